/** Amounts of the API Pix: strings with two digits of centavos, held as whole centavos. */

export const amountForm = /^\d{1,10}\.\d{2}$/

/** @param amount of the form {@link amountForm} */
export const centsOf = (amount: string): bigint => BigInt(amount.replace('.', ''))
