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

/** 172 bytes in ASCII with a binary bitmap. */
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

const repeat = (work: () => number) => (times: number) => {
  let sum = 0
  for (let i = 0; i < times; i++) sum += work()
  return sum
}

const lengths = ({ pan, stan, rrn, terminalId, currency }: CardMessage): number =>
  (pan?.length ?? 0) +
  (stan?.length ?? 0) +
  (rrn?.length ?? 0) +
  (terminalId?.length ?? 0) +
  (currency?.length ?? 0)

/** One dialect's contenders for packing, unpacking and indexing one message. */
const ours = (name: string, fields: Fields) => {
  const dialect = dialects[name]
  if (dialect === undefined) throw new Error(`no dialect ${name}`)
  const out = new Uint8Array(1024)
  const end = createPacker(dialect).pack(fields[0] ?? '', { ...fields, 0: undefined }, out)
  const bytes = out.slice(0, end)
  const parser = createParser(dialect)
  const message = readMessage(parser.parse(bytes))
  const pack = createMessagePacker(createPacker(dialect))
  return {
    bytes,
    pack: { name: `trilho ${name}`, run: repeat(() => pack(message, out)) } satisfies Contender,
    unpack: {
      name: `trilho ${name}`,
      run: repeat(() => lengths(readMessage(parser.parse(bytes)))),
    } satisfies Contender,
    index: {
      name: 'trilho, offsets only',
      run: repeat(() => parser.parse(bytes).wireLength(37)),
    } satisfies Contender,
  }
}

const groupsFor = (label: string, fields: Fields): Group[] => {
  const ascii = ours('ascii', fields)
  const bcd = ours('bcd', fields)
  const packed = new Peer(fields).getBufferMessage()
  if (!Buffer.isBuffer(packed)) throw new Error('iso_8583 refuses the message')
  if (Object.keys(new Peer().getIsoJSON(packed)).length < Object.keys(fields).length) {
    throw new Error('iso_8583 does not read its own message')
  }
  const peerPack: Contender = {
    name: 'iso_8583',
    run: repeat(() => {
      const made = new Peer(fields).getBufferMessage()
      return Buffer.isBuffer(made) ? made.length : 0
    }),
  }
  const peerUnpack: Contender = {
    name: 'iso_8583',
    run: repeat(() => Object.keys(new Peer().getIsoJSON(packed)).length),
  }
  return [
    {
      name: `${label}, pack`,
      contenders: [ascii.pack, bcd.pack, peerPack],
      goals: [
        { ours: 'trilho ascii', peer: 'iso_8583', atLeast: 60 },
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
    },
  ]
}

/** The card codec against npm iso_8583, whose messages have a length header and two bitmaps. */
export const iso8583Suite: Suite = {
  name: 'iso8583',
  groups: () => [...groupsFor('17 fields, 172 bytes', seventeen), ...groupsFor('8 fields', eight)],
}
