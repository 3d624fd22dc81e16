-- Who asks is told by SET LOCAL in each transaction: backstory.tenant, backstory.member, backstory.role.
-- Unset, they are NULL or empty and nothing is seen. The role `keeper` is the server's own, while it replays
-- the journal of graves. A policy that looks into `projects` sees them under their own policy.

ALTER TABLE server ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone ON server FOR SELECT USING (true);

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON tenants
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE members ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON members
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON tokens
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE invites ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON invites
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE patterns ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON patterns
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE aliases ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON aliases
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE grants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON grants
    USING (tenant = (SELECT current_setting('backstory.tenant', true)));

ALTER TABLE projects ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON projects
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND (
            (SELECT current_setting('backstory.role', true)) = 'keeper'
            OR lane = (SELECT nullif(current_setting('backstory.member', true), ''))
            OR (
                lane = ''
                AND (SELECT current_setting('backstory.member', true)) <> ''
                AND (
                    NOT restricted
                    OR EXISTS (
                        SELECT 1 FROM grants
                        WHERE grants.tenant = projects.tenant AND grants.project = projects.project
                            AND grants.member = (SELECT current_setting('backstory.member', true))
                    )
                )
            )
        )
    )
    WITH CHECK (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND lane IN ('', (SELECT current_setting('backstory.member', true)))
    );

ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON memories FOR SELECT
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = memories.tenant AND projects.project = memories.project
        )
    );
CREATE POLICY written ON memories FOR INSERT
    WITH CHECK (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND author = (SELECT current_setting('backstory.member', true))
        AND (SELECT current_setting('backstory.role', true)) <> 'reader'
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = memories.tenant AND projects.project = memories.project
        )
    );
CREATE POLICY changed ON memories FOR UPDATE
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND author = (SELECT current_setting('backstory.member', true))
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = memories.tenant AND projects.project = memories.project
        )
    );
CREATE POLICY ended ON memories FOR DELETE
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND (
            author = (SELECT current_setting('backstory.member', true))
            OR (SELECT current_setting('backstory.role', true)) IN ('owner', 'keeper')
        )
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = memories.tenant AND projects.project = memories.project
        )
    );

-- A grave is made and never changed.
ALTER TABLE graves ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON graves FOR SELECT
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = graves.tenant AND projects.project = graves.project
        )
    );
CREATE POLICY made ON graves FOR INSERT
    WITH CHECK (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = graves.tenant AND projects.project = graves.project
        )
    );

ALTER TABLE cursors ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON cursors
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND EXISTS (
            SELECT 1 FROM projects
            WHERE projects.tenant = cursors.tenant AND projects.project = cursors.project
        )
    );

ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON audit FOR SELECT
    USING (
        tenant = (SELECT current_setting('backstory.tenant', true))
        AND (SELECT current_setting('backstory.role', true)) = 'owner'
    );
CREATE POLICY told ON audit FOR INSERT
    WITH CHECK (tenant = (SELECT current_setting('backstory.tenant', true)));
