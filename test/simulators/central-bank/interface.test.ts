import { heapStats } from 'bun:jsc'
import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import {
  acceptingPsp,
  batchMessagesMax,
  bodyBytesMax,
  type CentralBank,
  type CentralBankOptions,
  createCentralBank,
  participantsMax,
  streamsMax,
} from '../../../src/simulators/central-bank/index.ts'
import {
  answerTo,
  build,
  createParticipant,
  payment,
  type Received,
} from '../../support/participant.ts'
import { issueCertificate } from '../../support/pki.ts'

const bankA = '11111111'
const bankB = '22222222'
const xml = 'application/xml; charset=utf-8'
let bank: CentralBank | undefined

const open = async (options: CentralBankOptions = {}) => {
  bank = await createCentralBank({ longPollMs: 100, ...options })
  const { url, secondaryUrl } = bank
  return {
    bank,
    a: createParticipant(url, bankA),
    b: createParticipant(url, bankB),
    secondary: createParticipant(secondaryUrl, bankA),
  }
}

afterEach(async () => {
  await bank?.stop()
  bank = undefined
})

const problemOf = async (response: Response) => {
  const [, type = ''] = /error\/(\w+)</.exec(await response.text()) ?? []
  return `${response.status} ${type}`
}

/** What admi.002 says: the reason and to what it belongs. */
const refusalOf = ({ type, xml }: Received) => {
  const part = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(xml)?.[1] ?? ''
  return { type, reason: part('RjctgPtyRsn'), reference: part('Ref') }
}

const idOf = (message: Uint8Array): string =>
  /<BizMsgIdr>(.*?)</.exec(Buffer.from(message).toString())?.[1] ?? ''

const edited = (message: Uint8Array, from: string | RegExp, to: string): Uint8Array =>
  Buffer.from(Buffer.from(message).toString().replace(from, to))

/** Sends bytes as they are and gives what came back before the connection ended. */
const raw = (url: string, text: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    let got = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1')
      socket.end()
    })
    socket.on('error', () => resolve(got))
    socket.on('close', () => resolve(got))
  })

describe('sending', () => {
  test('201 with one PI-ResourceId per message: PI, milliseconds, randomness', async () => {
    const { a } = await open()
    const one = await a.post(payment(bankA, bankB, 1), xml)
    expect(one.status).toBe(201)
    const messages = Array.from({ length: batchMessagesMax }, () => payment(bankA, bankB, 1))
    const many = await a.sendAll(messages)
    expect(many.status).toBe(201)
    const ids = many.headers.get('PI-ResourceId')?.split(',') ?? []
    expect(new Set(ids).size).toBe(batchMessagesMax)
    for (const id of ids) {
      const bytes = Buffer.from(id, 'base64')
      expect([id.length, bytes.length, bytes.toString('latin1', 0, 2)]).toEqual([32, 24, 'PI'])
      expect(Math.abs(bytes.readUIntBE(2, 6) - Date.now())).toBeLessThan(60_000)
    }
    expect((await a.sendAll([...messages, payment(bankA, bankB, 1)])).status).toBe(400)
  })

  test('what is no request of the interface has a problem', async () => {
    const { a, bank } = await open()
    const message = payment(bankA, bankB, 1)
    const post = async (type: string, headers = {}, body = message) =>
      problemOf(await a.post(body, type, headers))
    expect(await post('text/plain')).toBe('415 unsupportedMediaType')
    expect(await post('application/xml; charset=latin1')).toBe('400 charset')
    expect(await post(xml, { 'Content-Encoding': 'deflate' })).toBe('415 unsupportedMediaType')
    expect(await post(xml, { 'Content-Encoding': 'gzip' })).toBe('400 badRequest')
    expect(await post('multipart/mixed; boundary=x')).toBe('400 badRequest')
    const nothingIn = Buffer.from('--x--\r\n')
    expect(await post('multipart/mixed; boundary=x', {}, nothingIn)).toBe('400 badRequest')
    expect(await post(xml, { traceparent: '00-1-1-00' })).toBe('400 invalidHeader')
    expect(await post(xml, { 'Accept-Encoding': 'gzip, *' })).toBe('400 invalidHeader')
    expect(await problemOf(await a.call(`/api/v1/in/${bankA}/msgs`))).toBe('405 methodNotAllowed')
    expect(await problemOf(await a.call('/api/v1/in/1234567/msgs'))).toBe('404 notFound')
    const start = { headers: { Accept: 'text/html' } }
    expect(await problemOf(await a.call(a.start, start))).toBe('406 notAcceptable')
    const path = `/api/v1/in/${bankA}/msgs`
    const nothing = await raw(bank.url, `POST ${path} HTTP/1.1\r\nHost: h\r\n\r\n`)
    expect(nothing).toStartWith('HTTP/1.1 411')
  })

  test('gzip is a matter of choice on the primary channel, and a must on the secondary one', async () => {
    const { a, secondary } = await open()
    const message = payment(bankA, acceptingPsp, 1)
    const packed = Bun.gzipSync(message as Uint8Array<ArrayBuffer>)
    const gzip = { 'Content-Encoding': 'gzip' }
    expect((await a.post(payment(bankA, acceptingPsp, 1), xml)).status).toBe(201)
    expect(await problemOf(await secondary.post(message, xml))).toBe('415 unsupportedMediaType')
    expect((await secondary.post(packed, xml, gzip)).status).toBe(201)
    const each = new Response(`--x\r\nContent-Type: ${xml}\r\nContent-Encoding: gzip\r\n\r\n`)
    // Each part compressed instead of the whole: nobody unpacks it.
    const parts = Buffer.concat([
      Buffer.from(await each.arrayBuffer()),
      packed,
      Buffer.from('\r\n--x--\r\n'),
    ])
    expect((await a.post(parts, 'multipart/mixed; boundary=x')).status).toBe(201)
    const answers = await a.receive(2)
    expect(answers.map(({ type }) => type).sort()).toEqual(['admi.002', 'pacs.002'])
  })

  test('Host with a port is a reset connection where that is asked for', async () => {
    const { bank } = await open({ hostWithoutPort: true })
    const ask = (host: string) =>
      raw(bank.url, `GET /api/v1/in/catalog HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(await ask('icom-h.pi.rsfn.net.br:16522')).toBe('')
    expect(await ask('icom-h.pi.rsfn.net.br')).toStartWith('HTTP/1.1 200')
  })

  test('the catalogues name versions', async () => {
    const { a } = await open()
    const taken = await (await a.call('/api/v1/in/catalog')).text()
    const written = await (await a.call('/api/v1/out/catalog')).text()
    expect(taken).toContain('<Message>pacs.008.spi.1.16</Message>')
    expect(written).toContain('<Message>pacs.008.spi.1.14</Message>')
    expect(written).not.toContain('pacs.008.spi.1.16')
  })

  test('clients without a certificate of the authority do not get in', async () => {
    const authority = issueCertificate('Authority', { authority: true })
    const hosts = ['127.0.0.1']
    const server = issueCertificate('bank', { issuer: authority, hosts })
    const client = issueCertificate('participant', { issuer: authority })
    const { bank } = await open({ tls: { ...server, clientCa: authority.cert } })
    const known = createParticipant(bank.url, bankA, {
      fetchOptions: { tls: { ca: authority.cert, cert: client.cert, key: client.key } },
    })
    await known.send(payment(bankA, acceptingPsp, 1))
    const unknown = createParticipant(bank.url, bankA, {
      fetchOptions: { tls: { ca: authority.cert } },
    })
    await expect(unknown.send(payment(bankA, acceptingPsp, 1))).rejects.toThrow()
  })
})

describe('reading', () => {
  test('204 still says where to go on', async () => {
    const { a, b } = await open()
    const empty = await b.read(b.start)
    expect([empty.status, empty.next]).toEqual([
      204,
      expect.stringContaining(`/api/v1/out/${bankB}/stream/`),
    ])
    await a.send(payment(bankA, bankB, 1))
    expect((await b.read(empty.next)).received).toHaveLength(1)
  })

  test('what comes while a read waits is read at once', async () => {
    // Longer than the test.
    const { a, b } = await open({ longPollMs: 120_000 })
    const waiting = b.read(b.start)
    await Bun.sleep(100)
    await a.send(payment(bankA, bankB, 1))
    expect((await waiting).received).toHaveLength(1)
  })

  test('batches of at most 10, PI-ResourceId in each part; one message without multipart', async () => {
    const { a, b } = await open()
    const messages = Array.from({ length: batchMessagesMax }, () => payment(bankA, bankB, 1))
    await a.sendAll(messages)
    await a.sendAll(messages.slice(0, 3).map(() => payment(bankA, bankB, 1)))
    await a.receive(0)
    const first = await b.read(b.start)
    const second = await b.read(first.next)
    expect([first.received.length, second.received.length]).toEqual([batchMessagesMax, 3])
    expect(first.response.headers.get('PI-ResourceId')).toBeNull()
    expect(first.response.headers.get('Content-Type')).toStartWith('multipart/mixed; boundary="')
    const ids = [...first.received, ...second.received].map(({ resourceId }) => resourceId)
    expect(new Set(ids).size).toBe(13)
    await a.send(payment(bankA, bankB, 1))
    const single = await b.call(second.next, { headers: { Accept: 'application/xml' } })
    expect(single.headers.get('Content-Type')).toBe(xml)
    expect(single.headers.get('PI-ResourceId')).toHaveLength(32)
  })

  test('a batch is confirmed by the next read only; until then it comes again, the same', async () => {
    const { a, b } = await open()
    const start = await b.read(b.start)
    await a.sendAll([payment(bankA, bankB, 1), payment(bankA, bankB, 2)])
    const first = await b.read(start.next)
    const again = await b.read(start.next)
    const ids = (reading: typeof first) => reading.received.map(({ resourceId }) => resourceId)
    expect(ids(first)).toHaveLength(2)
    expect(ids(again)).toEqual(ids(first))
    expect(again.next).toBe(first.next)
    const after = await b.read(first.next)
    expect(after.status).toBe(204)
    expect(await problemOf(await b.call(start.next))).toBe('410 gone')
    // The batch is confirmed: repeating the last read gives nothing of it.
    expect((await b.read(first.next)).received).toEqual([])
  })

  test('DELETE confirms the last batch: 200, and 410 for what is gone', async () => {
    const { a, b, bank } = await open()
    await a.send(payment(bankA, bankB, 1))
    const { next } = await b.read(b.start)
    expect((await b.call(next, { method: 'DELETE' })).status).toBe(200)
    expect(await problemOf(await b.call(next, { method: 'DELETE' }))).toBe('410 gone')
    expect(await problemOf(await b.call(next))).toBe('410 gone')
    const { mailboxes } = bank.statistics()
    expect(mailboxes.map(({ waiting }) => waiting)).toEqual([0])
  })

  test('an abandoned stream is gone; its batch comes again on another with the same id', async () => {
    // Long enough for one who reads on without a pause, on a machine that has other work.
    const { a, b } = await open({ streamIdleMs: 500 })
    await a.send(payment(bankA, bankB, 1))
    const left = await b.read(b.start)
    expect(left.received).toHaveLength(1)
    const [again] = await createParticipant(bank?.url ?? '', bankB).receive()
    expect(again?.resourceId).toBe(left.received[0]?.resourceId ?? '')
    expect(await problemOf(await b.call(left.next))).toBe('410 gone')
  })

  test(`${streamsMax} streams for each participant and channel, the next is refused`, async () => {
    const { a, b, secondary } = await open()
    const opened = await Promise.all(Array.from({ length: streamsMax }, () => a.read(a.start)))
    expect(opened.map(({ status }) => status)).toEqual(Array(streamsMax).fill(204))
    const refused = await a.call(a.start)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1'])
    expect([(await b.read(b.start)).status, (await secondary.read(a.start)).status]).toEqual([
      204, 204,
    ])
    await a.call(opened[0]?.next ?? '', { method: 'DELETE' })
    expect((await a.read(a.start)).status).toBe(204)
  })

  test('a reader that goes away loses nothing', async () => {
    // Should the message meet the reader's end half way, the abandoned stream gives it back.
    const { a, b } = await open({ longPollMs: 4_000, streamIdleMs: 200 })
    const gone = new AbortController()
    const left = b.call(b.start, { signal: gone.signal }).catch(() => 'left')
    while (bank?.statistics().mailboxes.length === 0) await Bun.sleep(1)
    gone.abort()
    expect(await left).toBe('left')
    const waiting = createParticipant(bank?.url ?? '', bankB).receive()
    await a.send(payment(bankA, bankB, 1))
    expect(await waiting).toHaveLength(1)
  })
})

describe('messages that are not taken have an admi.002', () => {
  test('by MsgId where there is one, else by PI-ResourceId', async () => {
    const { a } = await open()
    const good = payment(bankA, bankB, 1)
    const cases: readonly (readonly [Uint8Array, string])[] = [
      [Buffer.from('\x1f\x8b'), 'xml'],
      [Buffer.from('<a/>'), 'schema'],
      [edited(good, /pacs\.008\/1\.14/, 'pacs.008/9.99'), 'schema'],
      [edited(good, '<ChrgBr>SLEV', '<ChrgBr>DEBT'), 'schema'],
      [payment(bankB, bankA, 1), 'sender'],
      [
        edited(
          good,
          /<To>.*?<\/To>/,
          `<To><FIId><FinInstnId><Othr><Id>${bankB}</Id></Othr></FinInstnId></FIId></To>`,
        ),
        'recipient',
      ],
      [edited(good, 'pacs.008.spi.1.14', 'pacs.008.spi.1.13'), 'header'],
      [
        build(bankA, 'PACS002', {
          original_end_to_end_id: `E${bankB}202603021405${'x'.repeat(11)}`,
          status: 'ACSP',
        }),
        'unknown_operation',
      ],
    ]
    const references: string[] = []
    for (const [message] of cases) {
      const resourceId = await a.send(message)
      references.push(idOf(message) === '' ? resourceId : idOf(message))
    }
    const refusals = (await a.receive(cases.length)).map(refusalOf)
    expect(refusals.map(({ type }) => type)).toEqual(cases.map(() => 'admi.002'))
    expect(refusals.map(({ reason }) => reason)).toEqual(cases.map(([, reason]) => reason))
    expect(refusals.map(({ reference }) => reference)).toEqual(references)
  })

  test('a repeated message is settled once and has the same answer again', async () => {
    const { a, bank } = await open()
    const message = payment(bankA, acceptingPsp, 100)
    await a.send(message)
    const [first] = await a.receive()
    await a.send(message)
    const [again] = await a.receive()
    expect(again?.xml).toBe(first?.xml ?? '')
    expect(bank.book().operations).toHaveLength(1)
    const other = edited(message, '>1.00<', '>2.00<')
    await a.send(other)
    expect((await a.receive()).map(refusalOf)).toEqual([
      { type: 'admi.002', reason: 'duplicate', reference: idOf(message) },
    ])
    const sameOperation = edited(
      message,
      new RegExp(idOf(message), 'g'),
      `M${bankA}${'z'.repeat(23)}`,
    )
    await a.send(sameOperation)
    expect((await a.receive()).map(({ xml }) => xml)[0]).toContain('duplicate_operation')
    expect(bank.book().balanced).toBe(true)
  })

  test('a message that is refused for what it says is refused again when it is repeated', async () => {
    const { a } = await open({ validate: false })
    const message = payment(bankA, acceptingPsp, 100)
    await a.send(message)
    await a.receive()
    const other = (id: string) =>
      edited(message, new RegExp(idOf(message), 'g'), `M${bankA}${id.repeat(23)}`)
    const cases: readonly (readonly [Uint8Array, string])[] = [
      [other('z'), 'duplicate_operation'],
      [edited(other('y'), /<PmtId>.*<\/PmtId>/, ''), 'schema'],
      [
        build(bankA, 'PACS002', {
          original_end_to_end_id: `E${bankB}202603021405${'z'.repeat(11)}`,
          status: 'ACSP',
        }),
        'unknown_operation',
      ],
    ]
    for (const [refused, reason] of cases) {
      await a.send(refused)
      const [first] = await a.receive()
      expect(first && refusalOf(first).reason).toBe(reason)
      await a.send(refused)
      expect((await a.receive()).map(({ xml }) => xml)).toEqual([first?.xml ?? ''])
    }
  })

  test('a repetition before the answer is answered once', async () => {
    const { a, b } = await open()
    const message = payment(bankA, bankB, 100)
    await a.send(message)
    const [asked] = await b.receive()
    await a.send(message)
    if (asked === undefined) throw new Error('nothing came')
    await b.send(answerTo(bankB, asked))
    expect((await a.receive()).map(({ type }) => type)).toEqual(['pacs.002'])
    expect((await b.receive()).map(({ type }) => type)).toEqual(['pacs.002'])
    await a.send(payment(bankA, acceptingPsp, 1))
    expect(await a.receive()).toHaveLength(1)
  })
})

test('token buckets: by day 350 at once on the secondary channel, then 429 until it fills again', async () => {
  let nowMs = Date.UTC(2026, 2, 2, 15)
  const { a, secondary } = await open({ rateLimits: true, now: () => nowMs, longPollMs: 20 })
  const pay = (participant: typeof a) => participant.sendAll([payment(bankA, acceptingPsp, 1)])
  // 350 in the bucket of the secondary channel by day; messages are debited when they are taken.
  for (let sent = 0; sent < 35; sent++) {
    const batch = Array.from({ length: 10 }, () => payment(bankA, acceptingPsp, 1))
    expect((await secondary.sendAll(batch)).status).toBe(201)
  }
  await secondary.receive(1)
  const refused = await pay(secondary)
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1'])
  expect((await pay(a)).status).toBe(201)
  nowMs += 1_000
  expect((await pay(secondary)).status).toBe(201)
})

test('a trck.002 costs as many tokens as it names book transfers', async () => {
  const nowMs = Date.UTC(2026, 2, 2, 15)
  const { secondary } = await open({
    rateLimits: true,
    validate: false,
    now: () => nowMs,
    longPollMs: 20,
  })
  const party = (ispb: string) =>
    `<FIId><FinInstnId><Othr><Id>${ispb}</Id></Othr></FinInstnId></FIId>`
  const report = (transfers: number, serial: number): Uint8Array => {
    const id = `M${bankA}${String(serial).padStart(23, '0')}`
    const named = Array.from(
      { length: transfers },
      (_, index) =>
        `<Tx><PmtId><EndToEndId>E${bankA}202603021500${String(index).padStart(11, '0')}</EndToEndId></PmtId></Tx>`,
    )
    return Buffer.from(
      `<Envelope xmlns="https://www.bcb.gov.br/pi/trck.002/1.1"><AppHdr><Fr>${party(bankA)}</Fr><To>${party('00038166')}</To><BizMsgIdr>${id}</BizMsgIdr><MsgDefIdr>trck.002.spi.1.1</MsgDefIdr><CreDt>2026-03-02T15:00:00.000Z</CreDt><Sgntr></Sgntr></AppHdr><Document><PmtStsTrckrRpt><TrckrStsAndTx>${named.join('')}</TrckrStsAndTx></PmtStsTrckrRpt></Document></Envelope>`,
    )
  }
  expect((await secondary.sendAll([report(1_499, 1)])).status).toBe(201)
  // One camt.025 for each 500 of them.
  expect((await secondary.receive(3)).map(({ type }) => type)).toEqual(Array(3).fill('camt.025'))
  expect((await secondary.sendAll([report(1, 2)])).status).toBe(201)
  await secondary.receive(1)
  expect((await secondary.sendAll([report(1, 3)])).status).toBe(429)
})

describe('bounds', () => {
  test('a body at the limit is read, one byte more is refused', async () => {
    const { a, bank } = await open()
    const at = await a.post(new Uint8Array(bodyBytesMax).fill(0x20), xml)
    expect(at.status).toBe(201)
    const past = await a.post(new Uint8Array(bodyBytesMax + 1).fill(0x20), xml)
    expect(await problemOf(past)).toBe('413 payloadTooLarge')
    const bomb = Bun.gzipSync(new Uint8Array(bodyBytesMax + 1))
    expect((await a.post(bomb, xml, { 'Content-Encoding': 'gzip' })).status).toBe(400)
    expect((await a.receive()).map(refusalOf)[0]?.reason).toBe('xml')
    expect(bank.statistics().received['requests']).toBe(1)
  })

  test('as many participants as there may be are let in, the next is not', async () => {
    const { bank } = await open()
    const ispbOf = (index: number) => index.toString(36).toUpperCase().padStart(8, '0')
    // The paying PSP is one of them.
    for (let index = 1; index < participantsMax; index++) {
      bank.payIn({ to: ispbOf(index), amountCents: 1n })
    }
    expect(bank.statistics().operations).toEqual({
      waiting: participantsMax - 1,
      settled: 0,
      rejected: 0,
    })
    bank.payIn({ to: ispbOf(participantsMax), amountCents: 1n })
    expect(bank.book().operations.at(-1)).toMatchObject({ state: 'rejected', code: 'RC10' })
    const known = createParticipant(bank.url, ispbOf(participantsMax - 1))
    expect((await known.read(known.start)).status).toBe(200)
    const stranger = createParticipant(bank.url, ispbOf(participantsMax))
    expect(await problemOf(await stranger.call(stranger.start))).toBe('403 forbidden')
  })

  test('as many messages wait as may; then sending is refused until somebody reads', async () => {
    const { a, b } = await open({ limits: { waitingMessagesMax: 3 } })
    await b.read(b.start)
    const statusOf = async () => (await a.post(payment(bankA, bankB, 1), xml)).status
    expect((await a.sendAll([1, 2].map(() => payment(bankA, bankB, 1)))).status).toBe(201)
    expect(await statusOf()).toBe(201)
    expect(await statusOf()).toBe(503)
    await b.receive(3)
    expect(await statusOf()).toBe(201)
  })

  test('a repetition is known as long as the message is remembered, or what it asked for is in the book', async () => {
    const { a, bank } = await open({ limits: { rememberedMessagesMax: 2 } })
    const messages = [1, 2, 3].map((cents) => payment(bankA, acceptingPsp, cents))
    for (const message of messages) await a.send(message)
    await a.receive(3)
    await a.sendAll(messages.slice(1))
    expect((await a.receive(2)).map(({ type }) => type)).toEqual(['pacs.002', 'pacs.002'])
    const [forgotten = new Uint8Array()] = messages
    await a.send(forgotten)
    expect((await a.receive()).map(({ xml }) => xml)[0]).toContain('ACSC')
    expect(bank.statistics().received['repeated']).toBe(3)
    await a.sendAll(messages.slice(1))
    await a.receive(2)
    // Other content under the id and with the operation of a forgotten message.
    await a.send(edited(forgotten, '>0.01<', '>0.02<'))
    expect((await a.receive()).map(({ xml }) => xml)[0]).toContain('duplicate_operation')
    expect(bank.book().operations.map(({ amountCents }) => amountCents)).toEqual([1n, 2n, 3n])
  })

  test('of a forgotten message nothing but its operations stays: neither it nor its answers', async () => {
    const { a, bank } = await open({ limits: { rememberedMessagesMax: 2 } })
    const pay = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at++) {
        await a.send(payment(bankA, acceptingPsp, 1))
        await a.receive()
      }
    }
    const kept = () => {
      Bun.gc(true)
      const { objectTypeCounts, extraMemorySize } = heapStats()
      return { arrays: objectTypeCounts['Uint8Array'] ?? 0, bytes: extraMemorySize }
    }
    // A young process keeps more with each payment, whatever it pays.
    await pay(300)
    const before = kept()
    await pay(500)
    const after = kept()
    expect(after.arrays - before.arrays).toBeLessThan(100)
    // A message has 3 kB.
    expect(after.bytes - before.bytes).toBeLessThan(500 * 1_500)
    expect(bank.book().operations).toHaveLength(800)
  })

  test('what was refused is told again as well', async () => {
    const { a } = await open({ limits: { rememberedMessagesMax: 1 }, openingBalanceCents: 5n })
    const refused = payment(bankA, acceptingPsp, 6)
    for (const message of [refused, payment(bankA, acceptingPsp, 1), refused]) {
      await a.send(message)
      const [answer] = await a.receive()
      expect(answer?.xml).toContain(message === refused ? 'AM04' : 'ACSC')
    }
  })

  test('the oldest finished operations leave the book, never one that waits', async () => {
    const { a, bank } = await open({ limits: { bookOperationsMax: 2 } })
    await a.send(payment(bankA, bankB, 1))
    for (const cents of [2, 3, 4]) {
      await a.send(payment(bankA, acceptingPsp, cents))
      await a.receive()
    }
    expect(bank.book().operations.map(({ amountCents, state }) => [amountCents, state])).toEqual([
      [1n, 'waiting'],
      [4n, 'settled'],
    ])
    expect(bank.book().balanced).toBe(true)
  })
})
