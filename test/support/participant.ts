/** A participant of the instant payment system, as small as it can be: for tests of the simulated bank. */
import {
  type BuildableMessage,
  buildMessage,
  createRandomText,
  identifyMessage,
  messageVocabulary,
  type PaymentMessage,
  readMessage,
} from '#codecs/iso20022'
import {
  boundaryOf,
  decodeMultipart,
  encodeMultipart,
  multipartContentType,
} from '#codecs/multipart'
import { createXmlScanner } from '#codecs/xml'

export type Received = {
  readonly resourceId: string
  readonly bytes: Uint8Array
  readonly xml: string
  readonly type: string
  /** Set for the pacs types. */
  readonly message: PaymentMessage | undefined
}

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const random = createRandomText((bytes) => crypto.getRandomValues(bytes))

export const build = (
  ispb: string,
  name: BuildableMessage,
  params: unknown,
  version?: string,
): Uint8Array => {
  const built = buildMessage(name, params, {
    ispb,
    nowMs: Date.now(),
    random,
    revision: '5.11.1',
    ...(version === undefined ? {} : { version }),
  })
  if (!built.ok) throw new Error(JSON.stringify(built.problems))
  return built.message.bytes
}

/** One transaction of a PACS008. */
export const transfer = (from: string, to: string, cents: number, id?: string) => ({
  ...(id === undefined ? {} : { end_to_end_id: id }),
  amount: cents,
  debtor: {
    ispb: from,
    name: 'Maria de Teste',
    document: '12345678909',
    account_num: '500100',
    account_type: 'CACC',
  },
  creditor: { ispb: to, document: '98765432100', account_num: '600200', account_type: 'CACC' },
})

export const payment = (
  from: string,
  to: string,
  cents: number,
  more: readonly ReturnType<typeof transfer>[] = [],
): Uint8Array =>
  build(from, 'PACS008', {
    local_instrument: 'MANU',
    transactions: [transfer(from, to, cents), ...more],
  })

/** Receiver's answer to the first, or that, transaction. */
export const answerTo = (
  ispb: string,
  received: Received,
  status: 'ACSP' | 'RJCT' = 'ACSP',
  index = 0,
): Uint8Array => {
  const { message } = received
  if (message === undefined || message.type === 'pacs.002') throw new Error('nothing to answer')
  const item = message.transactions[index]
  if (item === undefined) throw new Error('no such transaction')
  const original = 'endToEndId' in item ? item.endToEndId : item.originalEndToEndId
  return build(ispb, 'PACS002', {
    original_end_to_end_id: original,
    ...('returnId' in item ? { original_instruction_id: item.returnId } : {}),
    status,
    ...(status === 'RJCT' ? { reason: 'AC03' } : {}),
  })
}

const understand = (resourceId: string, bytes: Uint8Array): Received => {
  const document = scanner.scan(bytes)
  const identity = identifyMessage(document)
  if (identity === undefined) throw new Error('no message of the SPI')
  const { type, version } = identity
  const isTyped = type === 'pacs.008' || type === 'pacs.002' || type === 'pacs.004'
  const reading = isTyped ? readMessage(document, { type, version }) : undefined
  const xml = new TextDecoder().decode(bytes)
  const message = reading?.ok === true ? reading.message : undefined
  return { resourceId, bytes, xml, type, message }
}

export type Reading = {
  readonly status: number
  readonly next: string
  readonly received: readonly Received[]
  readonly response: Response
}

export type ParticipantOptions = {
  readonly fetchOptions?: RequestInit & { readonly tls?: object }
}

const receiveMs = 40_000

export const createParticipant = (
  baseUrl: string,
  ispb: string,
  { fetchOptions }: ParticipantOptions = {},
) => {
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(new URL(path, baseUrl), {
      ...fetchOptions,
      ...init,
      headers: { 'Accept-Encoding': 'gzip', ...init.headers },
    })
  const post = (body: Uint8Array, contentType: string, headers: Record<string, string> = {}) =>
    call(`/api/v1/in/${ispb}/msgs`, {
      method: 'POST',
      body: body as Uint8Array<ArrayBuffer>,
      headers: { 'Content-Type': contentType, ...headers },
    })
  const read = async (path: string): Promise<Reading> => {
    const response = await call(path, { headers: { Accept: 'multipart/mixed' } })
    const next = response.headers.get('PI-Pull-Next') ?? ''
    if (response.status !== 200) return { status: response.status, next, received: [], response }
    const parts = decodeMultipart(
      new Uint8Array(await response.arrayBuffer()),
      boundaryOf(response.headers.get('Content-Type') ?? ''),
    )
    const received = parts.map(({ headers, body }) =>
      understand(headers.get('pi-resourceid') ?? '', body),
    )
    return { status: 200, next, received, response }
  }
  let position = `/api/v1/out/${ispb}/stream/start`
  return {
    ispb,
    call,
    post,
    read,
    start: `/api/v1/out/${ispb}/stream/start`,
    /** One message, plain. */
    send: async (message: Uint8Array) => {
      const response = await post(message, 'application/xml; charset=utf-8')
      if (response.status !== 201) throw new Error(`answered ${response.status}`)
      return response.headers.get('PI-ResourceId') ?? ''
    },
    /** Several in one gzipped multipart body. */
    sendAll: (messages: readonly Uint8Array[]) => {
      const parts = messages.map((body) => ({
        headers: { 'Content-Type': 'application/xml; charset=utf-8' },
        body,
      }))
      const body = Bun.gzipSync(
        encodeMultipart(parts, 'simple boundary') as Uint8Array<ArrayBuffer>,
      )
      return post(body, multipartContentType('simple boundary'), { 'Content-Encoding': 'gzip' })
    },
    /** Reads on one stream of its own until `count` messages are there. */
    receive: async (count = 1): Promise<readonly Received[]> => {
      const all: Received[] = []
      const endMs = performance.now() + receiveMs
      while (all.length < count) {
        if (performance.now() > endMs) throw new Error(`${all.length} of ${count} messages came`)
        const reading = await read(position)
        if (reading.next === '') throw new Error(`read answered ${reading.status}`)
        position = reading.next
        all.push(...reading.received)
      }
      return all
    },
  }
}

export type Participant = ReturnType<typeof createParticipant>
