const number = String.raw`\d[\d.,]*`
const range = new RegExp(`^(${number})?\\s*(-|–|\\.\\.)\\s*(${number})?$`)

/**
 * What to ask the API for an amount as people write it: `1.234,56`, `1,234.5`, `10`, or two of them with a dash between,
 * of which one may be missing. The API says what is wrong with anything else.
 */
export const amountsAsked = (text: string): Readonly<Record<string, string>> => {
  const [, from, dash, to] = range.exec(text) ?? []
  if (dash === undefined || (from === undefined && to === undefined)) {
    return { amount: decimalOf(text) }
  }
  return {
    ...(from === undefined ? {} : { amount_from: decimalOf(from) }),
    ...(to === undefined ? {} : { amount_to: decimalOf(to) }),
  }
}

/** A dot or comma before the last one or two digits ends the whole reais; others only group them. */
const decimalOf = (text: string): string => {
  if (!new RegExp(`^${number}$`).test(text)) return text
  const [, whole = text, cents] = /^(.*)[.,](\d{1,2})$/.exec(text) ?? []
  const digits = whole.replace(/[.,]/g, '')
  return cents === undefined ? digits : `${digits}.${cents}`
}

/** The same in cents, as cards have it. */
export const centsAsked = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(amountsAsked(text)).map(([name, amount]) => [name, centsOf(amount)]),
  )

const centsOf = (amount: string): string => {
  const [, whole, cents = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? []
  return whole === undefined ? amount : `${whole}${cents.padEnd(2, '0')}`.replace(/^0+(?=\d)/, '')
}
