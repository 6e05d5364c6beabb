import Peer from 'iso_8583'
import {
  type CardMessage,
  createMessagePacker,
  createPacker,
  createParser,
  dialects,
  readMessage,
} from '#codecs/iso8583'
import type { Contender, Group, Suite } from '../harness.ts'

type Fields = Readonly<Record<number, string>>

/** This is 172 bytes in ASCII with a binary bitmap. */
const seventeen: Fields = {
  0: '0100',
  2: '4111111111111111',
  3: '003000',
  4: '000000012345',
  7: '1120143005',
  11: '000001',
  12: '113005',
  13: '1120',
  14: '2812',
  18: '5411',
  22: '010',
  25: '59',
  32: '12345',
  37: '632414000001',
  41: 'TERM0001',
  42: 'MERCHANT0000001',
  43: 'LOJA EXEMPLO LTDA        SAO PAULO    BR',
  49: '986',
}

const eight: Fields = Object.fromEntries(
  [0, 2, 3, 4, 11, 37, 41, 42, 49].map((de) => [de, seventeen[de] ?? '']),
)

/**
 * The messages differ where real ones do, so that nothing gains from seeing one again: no STAN, amount or RRN comes
 * twice, and some hundred messages share a second.
 */
const messages = 4096

const variants = (fields: Fields): readonly Fields[] =>
  Array.from({ length: messages }, (_, i) => {
    const four = String(i).padStart(4, '0')
    const stan = String((i * 449) % 1_000_000).padStart(6, '0')
    const second = String(i >> 7).padStart(2, '0')
    const changed: Fields = {
      2: `411111111111${four}`,
      4: `00000001${four}`,
      7: `11201430${second}`,
      11: stan,
      12: `1130${second}`,
      37: `632414${stan}`,
      41: `TERM${four}`,
      42: `MERCHANT000${four}`,
    }
    return Object.fromEntries(
      Object.entries(fields).map(([de, value]) => [de, changed[Number(de)] ?? value]),
    )
  })

const repeat = (work: (index: number) => number) => (times: number) => {
  let sum = 0
  for (let i = 0; i < times; i++) sum += work(i % messages)
  return sum
}

/** Reads length and last character, so that an engine has to make a string that it only promised. */
const read = (value: unknown): number =>
  typeof value === 'string' ? value.length + value.charCodeAt(value.length - 1) : 0

/** Reads everything that the typed message of these suites can hold. */
const readAll = (message: CardMessage): number =>
  (message.pan === undefined ? 0 : message.pan.length + (message.pan[15] ?? 0)) +
  read(message.processingCode) +
  read(message.amount) +
  read(message.transmissionDateTime) +
  read(message.stan) +
  read(message.localTime) +
  read(message.localDate) +
  read(message.expirationDate) +
  read(message.merchantType) +
  read(message.entryMode) +
  read(message.conditionCode) +
  read(message.acquirerId) +
  read(message.rrn) +
  read(message.terminalId) +
  read(message.merchantId) +
  read(message.merchantName) +
  read(message.currency)

/** One dialect's contenders for packing, unpacking and indexing the messages. */
const ours = (name: string, fields: readonly Fields[]) => {
  const dialect = dialects[name]
  if (dialect === undefined) throw new Error(`no dialect ${name}`)
  const out = new Uint8Array(1024)
  const packer = createPacker(dialect)
  const packPlain = (one: Fields): number => packer.pack(one[0] ?? '', one, out)
  const wires = fields.map((one) => out.slice(0, packPlain(one)))
  const parser = createParser(dialect)
  const messages = wires.map((bytes) => readMessage(parser.parse(bytes)))
  const pack = createMessagePacker(packer)
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index]
    if (found === undefined) throw new Error('no such message')
    return found
  }
  return {
    pack: {
      name: `trilho ${name}`,
      run: repeat((i) => pack(at(messages, i), out)),
    } satisfies Contender,
    packPlain: {
      name: `trilho ${name}, plain object`,
      run: repeat((i) => packPlain(at(fields, i))),
    } satisfies Contender,
    unpack: {
      name: `trilho ${name}`,
      run: repeat((i) => readAll(readMessage(parser.parse(at(wires, i))))),
    } satisfies Contender,
    index: {
      name: 'trilho, offsets only',
      run: repeat((i) => parser.parse(at(wires, i)).offset(37)),
    } satisfies Contender,
  }
}

const groupsFor = (label: string, fields: Fields): Group[] => {
  const all = variants(fields)
  const ascii = ours('ascii', all)
  const bcd = ours('bcd', all)
  const numbers = Object.keys(fields).filter((de) => de !== '0')
  const packed = all.map((one) => {
    const bytes = new Peer(one).getBufferMessage()
    if (!Buffer.isBuffer(bytes)) throw new Error('iso_8583 refuses the message')
    return bytes
  })
  const peerPack: Contender = {
    name: 'iso_8583',
    run: repeat((i) => {
      const made = new Peer(all[i] ?? {}).getBufferMessage()
      return Buffer.isBuffer(made) ? made.length : 0
    }),
  }
  const peerUnpack: Contender = {
    name: 'iso_8583',
    run: repeat((i) => {
      const found = new Peer().getIsoJSON(packed[i] ?? Buffer.alloc(0))
      let sum = 0
      for (const de of numbers) sum += read(found[de])
      return sum
    }),
  }
  return [
    {
      name: `${label}, pack`,
      contenders: [ascii.pack, ascii.packPlain, bcd.pack, peerPack],
      goals: [
        { ours: 'trilho ascii', peer: 'iso_8583', atLeast: 60 },
        // jPOS takes a twentieth of the peer's time.
        { ours: 'trilho ascii, plain object', peer: 'iso_8583', atLeast: 30 },
        // Packed digits may take 1.3 times as long.
        { ours: 'trilho bcd', peer: 'trilho ascii', atLeast: 1 / 1.3 },
      ],
    },
    {
      name: `${label}, unpack to a typed message`,
      contenders: [ascii.unpack, bcd.unpack, ascii.index, peerUnpack],
      goals: [
        { ours: 'trilho ascii', peer: 'iso_8583', atLeast: 20 },
        { ours: 'trilho bcd', peer: 'trilho ascii', atLeast: 1 / 1.3 },
        { ours: 'trilho, offsets only', peer: 'iso_8583', atLeast: 60 },
      ],
      sameWork: ['trilho ascii', 'trilho bcd', 'iso_8583'],
    },
  ]
}

/** The card codec against npm iso_8583, whose messages have a length header and two bitmaps. */
export const iso8583Suite: Suite = {
  name: 'iso8583',
  groups: () => [...groupsFor('17 fields, 172 bytes', seventeen), ...groupsFor('8 fields', eight)],
}
