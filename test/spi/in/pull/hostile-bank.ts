import { gzipSync } from 'node:zlib'
import type { Socket } from 'bun'
import { encodeMultipart, multipartContentType } from '#codecs/multipart'
import { ispb } from '../../link/support.ts'

/** How an answer's bytes come, where that is not as it ought to be. */
type Wire =
  | 'half'
  | 'cut'
  | 'slow'
  | 'crawling'
  | 'longer'
  | 'longer and cut'
  | 'shorter'
  | 'no number'
  | 'two lengths'
  | 'ended'
  | 'reset'
  | 'noise'

export type Held = { readonly resourceId: string; readonly xml: string }
type Answer = {
  status?: number
  headers: Record<string, string>
  body: Uint8Array | string
  /** How the bytes come, if not all at once. */
  wire?: Wire
}
export type Wrong = (answer: Answer, held: readonly Held[]) => Answer | 'silent'

const boundary = 'pi message boundary'
const textOf = ({ body }: Answer): string => Buffer.from(body).toString('latin1')
const changed =
  (change: (text: string) => string): Wrong =>
  (answer) => ({ ...answer, body: Buffer.from(change(textOf(answer)), 'latin1') })
const onWire =
  (wire: Wire): Wrong =>
  (answer) => ({ ...answer, wire })
const instead =
  (status: number, headers: Record<string, string> = {}): Wrong =>
  () => ({ status, headers, body: '' })
const withHeaders =
  (headers: Record<string, string | undefined>): Wrong =>
  (answer) => ({
    ...answer,
    headers: Object.fromEntries(
      Object.entries({ ...answer.headers, ...headers }).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
  })

/** Every way to be wrong, by its name. */
export const faults: Readonly<Record<string, Wrong>> = {
  'lines that end by LF': changed((text) => text.replaceAll('\r\n', '\n')),
  'no boundary named': withHeaders({ 'content-type': 'multipart/mixed' }),
  'another boundary named': withHeaders({ 'content-type': multipartContentType('other') }),
  'no Content-Type': withHeaders({ 'content-type': undefined }),
  'a header line that is none': changed((text) => text.replaceAll('PI-Res', ': none\r\nPI-Res')),
  'a closing delimiter that is missing': changed((text) => text.replace(/\r\n--[^-]*--\r\n$/, '')),
  'a body that ends in the middle of a message': changed((text) => text.slice(0, -40)),
  'no delimiter': changed((text) => text.replaceAll(boundary, 'x')),
  'a hundred and one parts': (answer) => {
    const noise = Array.from({ length: 101 }, () => ({
      headers: {},
      body: Buffer.from('<noise/>'),
    }))
    const body = textOf(answer).replace(
      new RegExp(`--${boundary}--\\r\\n$`),
      Buffer.from(encodeMultipart(noise, boundary)).toString('latin1'),
    )
    return { ...answer, body: Buffer.from(body, 'latin1') }
  },
  'an empty message': changed((text) => text.replace(/<m>.*?<\/m>/, '')),
  'not compressed as it says': withHeaders({ 'content-encoding': 'gzip' }),
  'a bomb': (answer) => ({
    ...answer,
    headers: { ...answer.headers, 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.concat([Buffer.from(textOf(answer), 'latin1'), Buffer.alloc(48 << 20)]), {
      level: 1,
    }),
  }),
  'no PI-Pull-Next': withHeaders({ 'pi-pull-next': undefined }),
  'PI-Pull-Next of another host': withHeaders({ 'pi-pull-next': 'https://evil.example/x' }),
  'a page of HTML': () => ({ status: 502, headers: {}, body: '<html>' }),
  'a document of 4 MiB that is none, beside the others': (answer) => {
    const noise = { headers: { 'PI-ResourceId': 'noise' }, body: Buffer.alloc(4 << 20, '<a ') }
    const [more = ''] = textOf({ ...answer, body: encodeMultipart([noise], boundary) }).split(
      `--${boundary}--`,
    )
    const end = `--${boundary}--\r\n`
    return { ...answer, body: Buffer.from(textOf(answer).replace(end, more + end), 'latin1') }
  },
  'half a body, and then nothing': onWire('half'),
  'half a body, and then the end': onWire('cut'),
  'a body that comes slowly, and whole': onWire('slow'),
  'a body that comes more slowly than anybody waits': onWire('crawling'),
  'a Content-Length that says more than comes, and then nothing': onWire('longer'),
  'a Content-Length that says more than comes, and then the end': onWire('longer and cut'),
  'a Content-Length that says less than comes': onWire('shorter'),
  'a Content-Length that is no number': onWire('no number'),
  'two Content-Lengths': onWire('two lengths'),
  'a message twice in one answer': changed((text) => {
    const [part = ''] = text.split(/(?<=\r\n)(?=--)/)
    return `${part}${text}`
  }),
  '401': instead(401),
  '403': instead(403),
  '410': instead(410),
  '503': instead(503),
  'no answer, and a connection that stays open': () => 'silent',
  'no answer, and the end of the connection': onWire('ended'),
  'a connection that is reset': onWire('reset'),
  'an answer that is no HTTP': onWire('noise'),
}

type Peer = { bytes: string; isBusy: boolean }

/** Pieces and pauses of a body that comes slowly, yet before the test's client gives up, and of one that does not. */
const slowPieces = 5
const slowPauseMs = 15
const crawlPauseMs = 120

const headOf = (
  status: number,
  headers: Readonly<Record<string, string>>,
  lengths: readonly string[],
): string =>
  [
    `HTTP/1.1 ${status} X`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...lengths.map((length) => `Content-Length: ${length}`),
    '\r\n',
  ].join('\r\n')

const lengthsOf = (wire: Wire | undefined, length: number): readonly string[] => {
  switch (wire) {
    case 'longer':
    case 'longer and cut':
      return [String(length + 100)]
    case 'shorter':
      return [String(Math.max(0, length - 40))]
    case 'no number':
      return ['some']
    case 'two lengths':
      return [String(length), String(length + 1)]
    default:
      return [String(length)]
  }
}

/** Writes all, however little the socket takes at once. */
const writeAll = async (socket: Socket<Peer>, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length; ) {
    const written = socket.write(bytes.subarray(at))
    if (written < 0) return
    at += written
    if (at < bytes.length) await Bun.sleep(1)
  }
}

const send = async (socket: Socket<Peer>, answer: Answer): Promise<void> => {
  const { status = 200, headers, wire } = answer
  const body = Buffer.from(answer.body)
  if (wire === 'ended') return void socket.end()
  if (wire === 'reset') return void socket.terminate()
  const head = Buffer.from(
    wire === 'noise'
      ? 'what do you want?\n'.repeat(40)
      : headOf(status, headers, lengthsOf(wire, body.length)),
  )
  if (wire === 'slow' || wire === 'crawling') {
    const size = Math.ceil(body.length / slowPieces)
    await writeAll(socket, head)
    for (let at = 0; at < body.length; at += size) {
      await Bun.sleep(wire === 'slow' ? slowPauseMs : crawlPauseMs)
      await writeAll(socket, body.subarray(at, at + size))
    }
    return
  }
  const isHalf = wire === 'half' || wire === 'cut'
  await writeAll(socket, Buffer.concat([head, isHalf ? body.subarray(0, body.length / 2) : body]))
  if (wire === 'cut' || wire === 'longer and cut' || wire === 'noise') socket.end()
}

const idlePollMs = 20
/** A stream that nobody asks for so long is forgotten, and another gets what it was given. */
const forgottenSoonMs = 1_000

/**
 * Delivers what waits, in batches, and repeats a batch until the read behind it comes. Bytes on a socket, because a well
 * made server would not lie about them.
 *
 * @param wrong - undefined: this answer is right
 * @param forgottenMs - how long nobody asks for a stream until it is forgotten
 */
export const hostileBank = (
  wrong: (answer: Answer, held: readonly Held[]) => Answer | 'silent' | undefined,
  forgottenMs = forgottenSoonMs,
) => {
  const waiting: Held[] = []
  /** By the stream's number: a batch belongs to the stream that it was given to. */
  const streams = new Map<number, { batch: readonly Held[]; token: number; seenMs: number }>()
  const state = { wrongMs: 0, wrongs: 0, answers: 0 }
  const isGiven = (held: Held): boolean =>
    [...streams.values()].some(({ batch }) => batch.includes(held))
  const forgetOld = (): void => {
    const sinceMs = performance.now() - forgottenMs
    for (const [number, { seenMs }] of streams) if (seenMs < sinceMs) streams.delete(number)
  }

  const answerTo = async (method: string, path: string): Promise<Answer | 'silent'> => {
    forgetOld()
    if (method === 'DELETE') {
      streams.delete(Number(path.split('/').at(-2)))
      return { headers: {}, body: '' }
    }
    const isStart = path.endsWith('/start')
    if (isStart) streams.set(++opened, { batch: [], token: 0, seenMs: 0 })
    const number = isStart ? opened : Number(path.split('/').at(-2))
    const stream = streams.get(number)
    if (stream === undefined) return { status: 410, headers: {}, body: '' }
    stream.seenMs = performance.now()
    if (!isStart && Number(path.split('/').at(-1)) === stream.token) {
      for (const held of stream.batch) waiting.splice(waiting.indexOf(held), 1)
      stream.batch = []
    }
    if (stream.batch.length === 0) {
      const free = waiting.filter((held) => !isGiven(held)).slice(0, 3)
      if (free.length > 0) {
        stream.batch = free
        stream.token++
      }
    }
    const next = { 'pi-pull-next': `/api/v1/out/${ispb}/stream/${number}/${stream.token}` }
    if (stream.batch.length === 0) {
      await Bun.sleep(idlePollMs)
      return { status: 204, headers: next, body: '' }
    }
    const parts = stream.batch.map(({ resourceId, xml }) => ({
      headers: { 'PI-ResourceId': resourceId },
      body: Buffer.from(xml),
    }))
    const right: Answer = {
      headers: { ...next, 'content-type': multipartContentType(boundary) },
      body: encodeMultipart(parts, boundary),
    }
    state.answers++
    const answer = wrong(right, stream.batch)
    if (answer === undefined) return right
    state.wrongs++
    state.wrongMs = performance.now()
    return answer
  }

  let opened = 0
  const serve = async (socket: Socket<Peer>): Promise<void> => {
    const end = socket.data.bytes.indexOf('\r\n\r\n')
    if (end < 0 || socket.data.isBusy) return
    const [method = '', path = ''] = socket.data.bytes.slice(0, end).split(' ')
    socket.data.bytes = socket.data.bytes.slice(end + 4)
    socket.data.isBusy = true
    const answer = await answerTo(method, path)
    // Half-open: nobody is there any more, and nothing tells so.
    if (answer === 'silent') return
    await send(socket, answer)
    socket.data.isBusy = false
    await serve(socket)
  }
  const listener = Bun.listen<Peer>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { bytes: '', isBusy: false }
      },
      data: (socket, chunk) => {
        socket.data.bytes += chunk.toString('latin1')
        void serve(socket)
      },
      error: () => {},
    },
  })
  return {
    url: `http://127.0.0.1:${listener.port}`,
    waiting,
    state,
    stop: () => listener.stop(true),
  }
}
