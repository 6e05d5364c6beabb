/** The message interface of one channel: answers each request. */
import { gunzipSync, gzipSync } from 'node:zlib'
import { CodecError } from '#codecs/bytes'
import { knownVersions, messageTypes, type Revision, versionOf } from '#codecs/iso20022'
import {
  boundaryOf,
  decodeMultipart,
  encodeMultipart,
  multipartContentType,
} from '#codecs/multipart'
import type { Intake, Stored } from './intake.ts'
import type { Ledger } from './ledger.ts'
import type { Batch } from './mailbox.ts'
import { batchMessagesMax, bodyBytesMax, type Channel, participantsMax } from './options.ts'
import type { IsFull, PostOffice } from './post-office.ts'
import { type Answer, problem } from './problem.ts'
import type { TokenBuckets } from './token-bucket.ts'

export type InterfaceRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: () => Promise<Uint8Array | 'too_large'>
  /** Fires when the client goes away. */
  readonly signal: AbortSignal
}

/** Answers one request; never throws for what a client sent. */
export type MessageInterface = (request: InterfaceRequest) => Promise<Answer>

const xml = 'application/xml; charset=utf-8'
const boundary = 'pi message boundary'
const gzipLevel = 1
const route = /^\/api\/v1\/(in|out)\/([0-9A-Z]{8})\/(msgs|stream\/(.{1,100}))$/

const text = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value ?? []).join(', ')

type InterfaceDeps = {
  readonly channel: Channel
  readonly intake: Intake
  readonly post: PostOffice
  readonly ledger: Ledger
  readonly buckets: TokenBuckets | undefined
  readonly resourceId: () => string
  readonly revision: Revision
  readonly isFull: IsFull
}

export const createMessageInterface =
  (deps: InterfaceDeps): MessageInterface =>
  async (request) => {
    const { method, path } = request
    if (path === '/api/v1/in/catalog' || path === '/api/v1/out/catalog') {
      if (method !== 'GET') return problem('methodNotAllowed')
      return catalogue(path === '/api/v1/in/catalog' ? undefined : deps.revision)
    }
    const [, direction, ispb = '', rest, token = ''] = route.exec(path) ?? []
    const isSend = direction === 'in' && rest === 'msgs'
    const isRead = direction === 'out' && token !== ''
    if (!(isSend || isRead)) return problem('notFound')
    if (!isParticipant(deps.ledger, ispb)) return problem('forbidden')
    if (isSend) {
      return method === 'POST' ? receive(deps, ispb, request) : problem('methodNotAllowed')
    }
    if (method === 'GET') return read(deps, ispb, token, request)
    if (method !== 'DELETE' || token === 'start') return problem('methodNotAllowed')
    return deps.post.mailbox(ispb, deps.channel).close(token)
      ? { status: 200, headers: {}, body: '' }
      : problem('gone')
  }

const isParticipant = (ledger: Ledger, ispb: string): boolean => {
  if (!ledger.mayOpen(ispb, participantsMax)) return false
  ledger.open(ispb)
  return true
}

const receive = async (
  { channel, intake, buckets, resourceId, isFull }: InterfaceDeps,
  ispb: string,
  request: InterfaceRequest,
): Promise<Answer> => {
  const { headers } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    return problem('lengthRequired')
  }
  const wait = buckets?.waitSeconds(ispb, channel) ?? 0
  if (wait > 0) return problem('tooManyRequests', { 'Retry-After': String(wait) })
  // The answers would go to the sender's mailbox.
  if (isFull(ispb, channel)) return problem('unavailable')
  const body = await request.body()
  if (body === 'too_large') return problem('payloadTooLarge')
  const encoding = text(headers['content-encoding'])
  // Recommended on the primary channel, mandatory on the secondary one.
  if (channel === 'secondary' && encoding !== 'gzip') return problem('unsupportedMediaType')
  const parts = partsOf(body, text(headers['content-type']), encoding)
  if ('status' in parts) return parts
  const stored = parts.map((bytes): Stored => ({ ispb, channel, resourceId: resourceId(), bytes }))
  intake.store(stored)
  const ids = stored.map((each) => each.resourceId).join(',')
  return { status: 201, headers: { 'PI-ResourceId': ids }, body: '' }
}

const read = async (
  { channel, post }: InterfaceDeps,
  ispb: string,
  token: string,
  request: InterfaceRequest,
): Promise<Answer> => {
  const form = formOf(text(request.headers['accept']))
  if (form === undefined) return problem('notAcceptable')
  const mailbox = post.mailbox(ispb, channel)
  const wanted = { count: form === 'multipart' ? batchMessagesMax : 1, signal: request.signal }
  const isStart = token === 'start'
  const reading = isStart ? mailbox.open(wanted) : mailbox.next(token, wanted)
  if (reading === undefined) {
    return isStart ? problem('tooManyRequests', { 'Retry-After': '1' }) : problem('gone')
  }
  const batch = await reading
  if (batch === 'superseded') return problem('unavailable')
  const gzip = text(request.headers['accept-encoding']) === 'gzip'
  return delivery(batch, `/api/v1/out/${ispb}/stream/`, form, gzip)
}

/** zlib takes no smaller buffer. */
const roomBytesMin = 64
/** No message of ours shrinks to less than 1/32; if a body does, it gets its room piece by piece. */
const ratioMax = 32

/** The length that a gzip states at its end, and one byte more, so that zlib writes all of it at once. */
const roomFor = (gzip: Uint8Array): number => {
  const { buffer, byteOffset, length } = gzip
  if (length < 4) return roomBytesMin
  const said = new DataView(buffer, byteOffset, length).getUint32(length - 4, true)
  return Math.max(roomBytesMin, Math.min(said, length * ratioMax, bodyBytesMax) + 1)
}

/** The messages of a body, or why there are none. */
const partsOf = (
  received: Uint8Array,
  contentType: string,
  contentEncoding: string,
): readonly Uint8Array[] | Answer => {
  let body = received
  if (contentEncoding === 'gzip') {
    try {
      body = gunzipSync(received, { maxOutputLength: bodyBytesMax, chunkSize: roomFor(received) })
    } catch {
      return problem('badRequest')
    }
  } else if (contentEncoding !== '') return problem('unsupportedMediaType')
  const mediaType = contentType.split(';', 1)[0]?.trim() ?? ''
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1]
  switch (mediaType.toLowerCase()) {
    case 'application/xml':
      if (charset !== undefined && charset.toLowerCase() !== 'utf-8') return problem('charset')
      return body.length === 0 ? problem('badRequest') : [body]
    case 'multipart/mixed':
      try {
        const parts = decodeMultipart(body, boundaryOf(contentType))
        return parts.length === 0 || parts.length > batchMessagesMax
          ? problem('badRequest')
          : parts.map((part) => part.body)
      } catch (error) {
        if (error instanceof CodecError) return problem('badRequest')
        throw error
      }
    default:
      return problem('unsupportedMediaType')
  }
}

/** The form in which the client can read messages, or undefined. */
const formOf = (accept: string): 'multipart' | 'single' | undefined => {
  if (accept.includes('multipart/mixed')) return 'multipart'
  const isSingle = accept === '' || accept.includes('application/xml') || accept.includes('*/*')
  return isSingle ? 'single' : undefined
}

const delivery = (
  { deliveries, token }: Batch,
  path: string,
  form: 'multipart' | 'single',
  gzip: boolean,
): Answer => {
  const next = { 'PI-Pull-Next': path + token }
  const [first] = deliveries
  if (first === undefined) return { status: 204, headers: next, body: '' }
  const plain =
    form === 'single'
      ? first.bytes
      : encodeMultipart(
          deliveries.map(({ resourceId, bytes }) => ({
            headers: { 'Content-Type': xml, 'PI-ResourceId': resourceId },
            body: bytes,
          })),
          boundary,
        )
  return {
    status: 200,
    headers: {
      ...next,
      ...(form === 'single'
        ? { 'Content-Type': xml, 'PI-ResourceId': first.resourceId }
        : { 'Content-Type': multipartContentType(boundary) }),
      ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
    },
    body: gzip ? gzipSync(plain, { level: gzipLevel }) : plain,
  }
}

/** The versions of the revision in which the bank writes; without one, every version that it reads. */
const catalogue = (revision: Revision | undefined): Answer => {
  const names = messageTypes.flatMap((type) =>
    (revision === undefined ? knownVersions(type) : [versionOf(type, revision).version]).map(
      (version) => `<Message>${type}.spi.${version}</Message>`,
    ),
  )
  return {
    status: 200,
    headers: { 'Content-Type': xml },
    body: `<Catalog>${names.join('')}</Catalog>`,
  }
}
