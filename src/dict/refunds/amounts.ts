import { formatCents } from '#codecs/iso20022'

/** Reais with two decimals. @param cents of a JSON column */
export const amountOf = (cents: string): string => formatCents(BigInt(cents))
