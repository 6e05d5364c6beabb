import { hasError, parsePix } from 'pix-utils'

/** A cheap sum of the values on which all parsers must agree; its cost counts for each of them. */
export const weight = (
  key: string,
  name: string,
  city: string,
  txid: string,
  info: string,
): number =>
  key.length + 100 * name.length + 10_000 * city.length + txid.length * 7 + info.length * 3

/** Reads a static code. @throws Error if it is not one */
export const pixUtilsWeight = (payload: string): number => {
  const read = parsePix(payload)
  if (hasError(read) || !('pixKey' in read)) throw new Error('refused')
  const { pixKey, merchantName, merchantCity, txid = '', infoAdicional = '' } = read
  return weight(pixKey, merchantName, merchantCity, txid, infoAdicional)
}
