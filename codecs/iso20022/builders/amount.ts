const fractions = Array.from({ length: 100 }, (_, i) => `.${String(i).padStart(2, '0')}`)

/** A safe integer of cents, not negative, as a decimal with two fraction digits. */
export const amountOf = (amountCents: number): string => {
  const fraction = amountCents % 100
  return `${(amountCents - fraction) / 100}${fractions[fraction]}`
}
