import crc16ccitt from 'crc/crc16ccitt'
import { createStaticPix, hasError } from 'pix-utils'
import { buildStaticBrCode, crc16, parseBrCode } from '#codecs/brcode'
import type { Contender, Group, Suite } from '../harness.ts'
import { pixUtilsWeight, weight } from '../peers/pix-utils.ts'
import { goalsAgainst, nodePeer, nodeTimes } from '../peers/program.ts'

/** A static code as a shop prints it: 192 characters. Upper case, as pix-utils writes names. */
const code = {
  key: '123e4567-e12b-12d1-a456-426655440000',
  merchantName: 'FULANO DE TAL COMERCIO',
  merchantCity: 'BRASILIA',
  amount: '1234.56',
  txid: 'PEDIDO2026110001',
  info: 'Pedido 42, entrega',
}
const payload = buildStaticBrCode(code)
const bytes = Buffer.from(payload)

const contender = (name: string, work: () => number): Contender => ({
  name,
  run: (times) => {
    let sum = 0
    for (let i = 0; i < times; i++) sum += work()
    return sum
  },
})

const parsingAtLeast = 50

const parsing = (inNode: readonly Contender[]): Group => ({
  name: 'parse, validate and check a static code of 192 characters',
  contenders: [
    contender('trilho (text)', () => {
      const { pix, merchantName, merchantCity } = parseBrCode(payload)
      return weight(pix?.key ?? '', merchantName, merchantCity, pix?.txid ?? '', pix?.info ?? '')
    }),
    contender('trilho (bytes)', () => {
      const { pix, merchantName, merchantCity } = parseBrCode(bytes)
      return weight(pix?.key ?? '', merchantName, merchantCity, pix?.txid ?? '', pix?.info ?? '')
    }),
    contender('pix-utils', () => pixUtilsWeight(payload)),
    ...inNode,
  ],
  sameWork: ['trilho (text)', 'trilho (bytes)', 'pix-utils', ...inNode.map(({ name }) => name)],
  goals: [
    { ours: 'trilho (text)', peer: 'pix-utils', atLeast: parsingAtLeast },
    ...goalsAgainst(inNode, 'trilho (text)', parsingAtLeast / nodeTimes),
  ],
})

const building = (): Group => ({
  name: 'build a static code of 192 characters',
  contenders: [
    contender('trilho', () => buildStaticBrCode(code).charCodeAt(190)),
    contender('pix-utils', () => {
      const built = createStaticPix({
        merchantName: code.merchantName,
        merchantCity: code.merchantCity,
        pixKey: code.key,
        infoAdicional: code.info,
        transactionAmount: 1234.56,
        txid: code.txid,
      })
      if (hasError(built)) throw new Error(built.message)
      return built.toBRCode().charCodeAt(190)
    }),
  ],
  sameWork: ['trilho', 'pix-utils'],
  goals: [{ ours: 'trilho', peer: 'pix-utils', atLeast: 6 }],
})

const checking = (): Group => ({
  name: 'CRC-16/CCITT-FALSE of 192 bytes',
  contenders: [contender('trilho', () => crc16(bytes)), contender('crc', () => crc16ccitt(bytes))],
  sameWork: ['trilho', 'crc'],
  goals: [{ ours: 'trilho', peer: 'crc', atLeast: 4 }],
})

export const brCodeSuite: Suite = {
  name: 'brcode',
  groups: () => [parsing(nodePeer('pix-utils', () => [bytes])), building(), checking()],
}
