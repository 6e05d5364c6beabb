import type { z } from 'zod'
import {
  type BrCode,
  type BrCodeNode,
  buildCompositeBrCode,
  buildDynamicBrCode,
  buildStaticBrCode,
  checkTxid,
  explainBrCode,
  hasAsciiForm,
  parseBrCode,
  pixKeyKind,
  toAscii,
} from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import type { compositeBody, dynamicBody, staticBody } from './documents.ts'

type StaticRequest = z.output<typeof staticBody>
type DynamicRequest = z.output<typeof dynamicBody>
type CompositeRequest = z.output<typeof compositeBody>

/** A written code, as the API shows it. */
export type WrittenCode = {
  readonly payload: string
  readonly txid: string | null
  readonly kind: 'static' | 'dynamic' | 'authorization'
  readonly composite: boolean
  readonly key_kind: string | null
}

type Charset = StaticRequest['charset']

const merchantOf = ({
  charset,
  ...request
}: StaticRequest | DynamicRequest | CompositeRequest) => ({
  merchantName: inCharset(charset, '59', request.name),
  merchantCity: inCharset(charset, '60', request.city),
  amount: request.amount,
  postalCode: optionalIn(charset, '61', request.postal_code),
  merchantCategoryCode: request.merchant_category_code,
  singleUse: request.single_use,
})

/** A text as the object of this path holds it. */
const inCharset = (charset: Charset, path: string, text: string): string => {
  if (charset === 'utf-8') return text
  if (!hasAsciiForm(text)) {
    const message = 'holds a character that ASCII has no form for: use charset utf-8'
    throw new CodecError('brcode_ascii', 0, message, { path })
  }
  return toAscii(text).trim()
}

const optionalIn = (charset: Charset, path: string, text: string | undefined) =>
  text === undefined ? undefined : inCharset(charset, path, text)

/** Codes hold no scheme, but users paste addresses with one. */
const withoutScheme = (url: string): string => url.replace(/^https:\/\//i, '')

/** @throws CodecError */
export const writeStatic = (request: StaticRequest): WrittenCode => {
  const { key, txid } = request
  const info = optionalIn(request.charset, '26.02', request.info)
  const payload = buildStaticBrCode({ ...merchantOf(request), key, txid, info })
  return written(payload, txid, 'static', false, key)
}

/** @throws CodecError */
export const writeDynamic = (request: DynamicRequest): WrittenCode => {
  const { txid } = request
  if (txid !== undefined) checkTxid(txid, 'dynamic')
  const payload = buildDynamicBrCode({ ...merchantOf(request), url: withoutScheme(request.url) })
  return written(payload, txid, 'dynamic', false, undefined)
}

/** @throws CodecError */
export const writeComposite = (request: CompositeRequest): WrittenCode => {
  const { key, txid, url } = request
  const isDynamic = url !== undefined
  if (isDynamic && txid !== undefined) checkTxid(txid, 'dynamic')
  const payload = buildCompositeBrCode({
    ...merchantOf(request),
    recurrenceUrl: withoutScheme(request.recurrence_url),
    key,
    info: optionalIn(request.charset, '26.02', request.info),
    url: isDynamic ? withoutScheme(url) : undefined,
    // The txid of a charge is not in the code.
    txid: isDynamic ? undefined : txid,
  })
  const kind = isDynamic ? 'dynamic' : key === undefined ? 'authorization' : 'static'
  return written(payload, txid, kind, true, key)
}

const written = (
  payload: string,
  txid: string | undefined,
  kind: WrittenCode['kind'],
  composite: boolean,
  key: string | undefined,
): WrittenCode => ({
  payload,
  txid: txid ?? null,
  kind,
  composite,
  key_kind: key === undefined ? null : (pixKeyKind(key) ?? null),
})

/** @throws CodecError */
export const readCode = (payload: string) => {
  const code = parseBrCode(payload)
  return { ...viewOf(code), tree: explainBrCode(payload).nodes.map(viewOfNode) }
}

export const viewOf = (code: BrCode) => ({
  length_unit: code.lengthUnit,
  merchant_category_code: code.merchantCategoryCode,
  currency: code.currency,
  amount: code.amount ?? null,
  country: code.country,
  name: code.merchantName,
  city: code.merchantCity,
  postal_code: code.postalCode ?? null,
  pix:
    code.pix === undefined
      ? null
      : {
          kind: code.pix.kind,
          composite: code.pix.composite,
          template: code.pix.template,
          key: code.pix.key ?? null,
          key_kind: code.pix.keyKind ?? null,
          info: code.pix.info ?? null,
          url: code.pix.url ?? null,
          recurrence_url: code.pix.recurrenceUrl ?? null,
          single_use: code.pix.singleUse,
          txid: code.pix.txid ?? null,
        },
  warnings: code.warnings,
})

type NodeView = Omit<BrCodeNode, 'value' | 'children'> & {
  readonly value: string | null
  readonly children: readonly NodeView[]
}

const viewOfNode = ({ children, value, ...node }: BrCodeNode): NodeView => ({
  ...node,
  value: children.length > 0 ? null : value,
  children: children.map(viewOfNode),
})
