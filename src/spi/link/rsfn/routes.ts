import { ApiError, type Route, refusedValue, route } from '#src/platform/http/index.ts'
import { documents } from './documents.ts'
import { RsfnFailure, rsfnApiErrors } from './errors.ts'
import { type RsfnService, rsfnMessageBytesMax } from './service.ts'

const reasons = {
  key_missing: rsfnApiErrors.rsfn_key_missing,
  party_unknown: rsfnApiErrors.rsfn_party_unknown,
} as const satisfies Record<RsfnFailure['reason'], unknown>

function failed(error: unknown): never {
  if (error instanceof RsfnFailure) throw new ApiError(reasons[error.reason], `${error.message}.`)
  throw error
}

const bytesOf = (text: string, pointer: string): Uint8Array => {
  try {
    return Uint8Array.fromBase64(text)
  } catch {
    throw refusedValue([{ pointer, rule: 'base64', message: 'must be base64' }])
  }
}

/** Both sign or decrypt with keys of the institution (scope `rsfn:use`). */
export const rsfnRoutes = (service: RsfnService): readonly Route[] => [
  route(documents.seal, async ({ body }) => {
    const { content, content_encoding, type, special_use, recipient_ispb, ...parties } = body
    const bytes = content_encoding === 'base64' ? bytesOf(content, '/content') : content
    const wanted = { type, specialUse: special_use, recipientIspb: recipient_ispb, ...parties }
    const sealed = await service.seal({ content: bytes, ...wanted }).catch(failed)
    const { message, sender, recipient } = sealed
    const about = { bytes: message.length, sender, recipient }
    return Response.json({ message: message.toBase64(), ...about })
  }),
  route(documents.open, async ({ body }) => {
    const message = bytesOf(body.message, '/message')
    if (message.length > rsfnMessageBytesMax) {
      throw refusedValue([{ pointer: '/message', rule: 'bytes', message: 'is too long' }])
    }
    const policy = {
      acceptClear: body.accept_clear,
      acceptSecondVersion: body.accept_second_version,
    }
    const opened = await service.open(message, policy).catch(failed)
    if (!opened.ok) {
      const { code, field, isReport } = opened
      throw new ApiError(rsfnApiErrors.rsfn_refused, `${field}: ${opened.message}.`, {
        details: { rsfn_code: code, rsfn_field: field, is_report: isReport },
      })
    }
    const { content, contentEncoding, signed, encrypted, specialUse, sender, recipient } = opened
    return Response.json({
      content,
      content_encoding: contentEncoding,
      signed,
      encrypted,
      special_use: specialUse,
      sender: sender ?? null,
      recipient: recipient ?? null,
    })
  }),
]
