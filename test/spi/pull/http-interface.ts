import { boundaryOf, decodeMultipart } from '#codecs/multipart'
import {
  InterfaceError,
  StreamGoneError,
  TooManyStreamsError,
} from '../../../src/spi/interface/errors.ts'
import type {
  InterfaceClient,
  PulledMessage,
  PullStream,
} from '../../../src/spi/interface/types.ts'
import type { Channel } from '../../../src/spi/messages/index.ts'

type Urls = Readonly<Partial<Record<Channel, string>>>

/** The reading half of the port over plain HTTP, no more than a test needs: no time-outs, no retries. */
export const httpInterface = (ispb: string, urls: Urls): InterfaceClient => {
  const channels = (['PRIMARY', 'SECONDARY'] as const).filter((channel) => urls[channel])
  return {
    channels,
    send: () => Promise.reject(new Error('reads only')),
    catalogue: () => Promise.reject(new Error('reads only')),
    close: async () => {},
    openStream: async (channel, signal) => {
      const base = urls[channel] ?? ''
      const first = await read(`${base}/api/v1/out/${ispb}/stream/start`, signal)
      return streamFrom(base, first)
    },
  }
}

/** The interface refuses a header that it does not know, and any other encoding. */
const headers = { Accept: 'multipart/mixed', 'Accept-Encoding': 'gzip' }

type Reading = { readonly messages: readonly PulledMessage[]; readonly next: string }

const streamFrom = (base: string, first: Reading): PullStream => {
  let unread: Reading | undefined = first
  let { next } = first
  return {
    next: async (signal) => {
      const reading = unread ?? (await read(base + next, signal))
      unread = undefined
      next = reading.next
      return reading.messages
    },
    close: async () => {
      await fetch(base + next, { method: 'DELETE', headers })
    },
  }
}

const read = async (url: string, signal: AbortSignal | undefined): Promise<Reading> => {
  const response = await fetch(url, {
    headers,
    ...(signal === undefined ? {} : { signal }),
  })
  const body = new Uint8Array(await response.arrayBuffer())
  if (response.status === 410) throw new StreamGoneError()
  if (response.status === 429) throw new TooManyStreamsError(50)
  if (!response.ok) throw new InterfaceError('refused', { status: response.status })
  const next = response.headers.get('PI-Pull-Next') ?? ''
  if (response.status === 204) return { messages: [], next }
  const parts = decodeMultipart(body, boundaryOf(response.headers.get('Content-Type') ?? ''))
  return {
    next,
    messages: parts.map((part) => ({
      resourceId: part.headers.get('pi-resourceid') ?? '',
      xml: part.body,
    })),
  }
}
