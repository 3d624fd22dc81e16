"""What tokens cost. The table is the setting `model.prices`; money is counted in millionths."""

import math
from decimal import Decimal, InvalidOperation

# A constant that can be calibrated; other scripts take about a token a character.
_CHARS_PER_TOKEN = 3.6
_WRAPPING = 20  # what roles and marks around the texts take


def token_estimate(*texts: str) -> int:
    """About how many tokens these texts take."""
    plain = sum(sum(map(str.isascii, text)) if not text.isascii() else len(text) for text in texts)
    others = sum(len(text) for text in texts) - plain
    return math.ceil(plain / _CHARS_PER_TOKEN) + others + _WRAPPING


def parse_amount(text: str) -> int | None:
    """Money as the user writes it ("0.50"), in millionths; None if it is no amount."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return int(value * 1_000_000) if value.is_finite() and value >= 0 else None


def price_of(model: str, table: tuple[str, ...]) -> tuple[int, int] | None:
    """What a million tokens in and out cost, by the table's rows `model=in/out`; None if it has no row."""
    for row in table:
        name, _, both = row.partition("=")
        inward, _, outward = both.partition("/")
        if name.strip() == model:
            prices = parse_amount(inward.strip()), parse_amount(outward.strip())
            if prices[0] is not None and prices[1] is not None:
                return prices[0], prices[1]
    return None


def well_formed(table: tuple[str, ...]) -> bool:
    """Whether each row is `model=in/out`."""
    return all(price_of(row.partition("=")[0].strip(), (row,)) is not None for row in table)


def call_cost(price: tuple[int, int] | None, tokens_in: int, tokens_out: int) -> int:
    """What a call costs, rounded up; 0 when nobody knows the price."""
    if price is None:
        return 0
    return math.ceil((tokens_in * price[0] + tokens_out * price[1]) / 1_000_000)


def format_money(money: int) -> str:
    """Money as people read it."""
    return f"{money / 1_000_000:.2f}" if money >= 10_000 or money == 0 else f"{money / 1_000_000:.4f}"
