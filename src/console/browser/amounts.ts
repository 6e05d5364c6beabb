const number = String.raw`\d[\d.,]*`
const range = new RegExp(`^(${number})?\\s*(-|–|\\.\\.)\\s*(${number})?$`)

/**
 * The API's parameters for an amount as people write it: `1.234,56`, `1,234.5`, `10`, or a range such as `10-20`, `10-`
 * and `-20`. The API says what is wrong with any other text.
 */
export const amountsAsked = (
  text: string,
  decimalOf = reaisOf,
): Readonly<Record<string, string>> => {
  const [, from, dash, to] = range.exec(text) ?? []
  if (dash === undefined || (from === undefined && to === undefined)) {
    return { amount: decimalOf(text) }
  }
  return {
    ...(from === undefined ? {} : { amount_from: decimalOf(from) }),
    ...(to === undefined ? {} : { amount_to: decimalOf(to) }),
  }
}

/** One sign groups thousands, the other separates the decimals. */
const forms = [
  /^(\d+)(?:[.,](\d{1,2}))?$/,
  /^([1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d{1,2}))?$/,
  /^([1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d{1,2}))?$/,
]

/** Any other text stays as it is, because we might misread it. */
const reaisOf = (text: string): string => {
  const [, whole, cents] =
    forms.map((form) => form.exec(text)).find((found) => found !== null) ?? []
  if (whole === undefined) return text
  const digits = whole.replaceAll(/[.,]/g, '')
  return cents === undefined ? digits : `${digits}.${cents}`
}

/** The same for digital currency. It may have more decimals, written after a point as in the API. */
export const tokensAsked = (text: string): Readonly<Record<string, string>> =>
  amountsAsked(text, (one) => (/^\d+\.\d+$/.test(one) ? one : reaisOf(one)))

/** The same for cards, whose amounts are in cents. */
export const centsAsked = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(amountsAsked(text)).map(([name, amount]) => [name, centsOf(amount)]),
  )

const centsOf = (amount: string): string => {
  const [, whole, cents = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? []
  return whole === undefined ? amount : `${whole}${cents.padEnd(2, '0')}`.replace(/^0+(?=\d)/, '')
}
