/** The paths of the API that the server follows for pages. It follows no others. */

/** How many paths one stream follows. */
export const listsMax = 16

/** How often a stream tells at least that it is there. */
export const beatMs = 5_000

/** These change with every payment. */
const paymentLists = ['/v1/messages', '/v1/transactions', '/v1/drex/transfers'] as const

/** These change more seldom. */
const others = [
  '/health',
  '/v1/webhooks',
  '/v1/certificates',
  '/v1/ops/dead-letters',
  '/v1/dict/claims',
  '/v1/dict/infraction-reports',
  '/v1/dict/refunds',
  '/v1/dict/claims/{id}',
  '/v1/dict/infraction-reports/{id}',
  '/v1/dict/refunds/{id}',
  '/v1/messages/{id}',
  '/v1/transactions/{id}',
  '/v1/drex/transfers/{id}',
  '/v1/drex/lanes',
  '/v1/drex/held',
  '/v1/drex/balance/{wallet}',
  '/v1/drex/deliveries/{id}',
  '/v1/drex/liens/{id}',
  '/pix/v2/cob/{txid}',
  '/pix/v2/cobv/{txid}',
  '/pix/v2/cobr/{txid}',
  '/pix/v2/pix/{e2eid}',
  '/pix/v2/rec/{id}',
  '/pix/v2/solicrec/{id}',
  '/pix/v2/locrec/{id}',
] as const

export type PaymentList = (typeof paymentLists)[number]

/** Paths of the API, with names in place of their variable parts. */
export const templatesFollowed: readonly string[] = [...paymentLists, ...others]

type Template = (typeof paymentLists | typeof others)[number]
type Path<T extends string> = T extends `${infer Before}{${string}}` ? `${Before}${string}` : T

/** A path that may be followed, with its query. */
export type Followed = Path<Template> | `${Path<Template>}?${string}`

const patternOf = (templates: readonly string[]): RegExp => {
  const paths = templates.map((one) => one.replaceAll(/\{\w+\}/g, String.raw`[\w%-]+`))
  return new RegExp(String.raw`^(?:${paths.join('|')})(?:\?[^#\s]*)?$`)
}

const paymentsPattern = patternOf(paymentLists)
const othersPattern = patternOf(others)

export const isFollowed = (path: string): path is Followed =>
  paymentsPattern.test(path) || othersPattern.test(path)

export const isOfPayments = (path: string): boolean => paymentsPattern.test(path)
