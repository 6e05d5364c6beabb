import { type Indexed, indexPayload, pixGui, textOf } from './read.ts'
import {
  childOf,
  endOf,
  idOf,
  idText,
  type LengthUnit,
  noParent,
  offsetOf,
  parentOf,
  pathOf,
  startOf,
} from './tape.ts'

/**
 * One data object.
 *
 * @property offset - of its id, in bytes
 * @property length - of its value, in bytes
 * @property value - text; empty for a template, whose content is in `children`
 */
export type BrCodeNode = {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly offset: number
  readonly length: number
  readonly value: string
  readonly children: readonly BrCodeNode[]
}

export type BrCodeTree = {
  readonly lengthUnit: LengthUnit
  readonly nodes: readonly BrCodeNode[]
}

/** Names of root ids. EMV QR Code Specification, Merchant-Presented Mode, tables 3.3 to 3.5. */
const rootNames: Readonly<Record<number, string>> = {
  0: 'payload format indicator',
  1: 'point of initiation method',
  52: 'merchant category code',
  53: 'transaction currency',
  54: 'transaction amount',
  55: 'tip or convenience indicator',
  56: 'fixed convenience fee',
  57: 'percentage convenience fee',
  58: 'country code',
  59: 'merchant name',
  60: 'merchant city',
  61: 'postal code',
  62: 'additional data',
  63: 'CRC',
  64: 'merchant information in another language',
}

const additionalNames: Readonly<Record<number, string>> = {
  1: 'bill number',
  2: 'mobile number',
  3: 'store label',
  4: 'loyalty number',
  5: 'reference label (txid)',
  6: 'customer label',
  7: 'terminal label',
  8: 'purpose of transaction',
  9: 'consumer data request',
}

const languageNames: Readonly<Record<number, string>> = {
  0: 'language preference',
  1: 'merchant name, other language',
  2: 'merchant city, other language',
}

const pixNames: Readonly<Record<number, string>> = {
  1: 'key',
  2: 'additional information',
  3: 'withdrawal service provider',
  25: 'payload address',
}

/**
 * Every object of a payload, nested, with names. Checks only the frame and the CRC, no values.
 *
 * @throws CodecError as `indexBrCode` does
 */
export const explainBrCode = (payload: string | Uint8Array): BrCodeTree => {
  const indexed = indexPayload(payload)
  const { tape } = indexed
  const build = (parent: number): BrCodeNode[] => {
    const nodes: BrCodeNode[] = []
    for (let i = parent + 1; i < tape.count; i++) {
      if (parentOf(tape, i) !== parent) continue
      const children = build(i)
      const start = startOf(tape, i)
      nodes.push({
        id: idText(idOf(tape, i)),
        path: pathOf(tape, i),
        name: nameOf(indexed, i),
        offset: offsetOf(tape, i),
        length: endOf(tape, i) - start,
        value: children.length === 0 ? textOf(indexed, i) : '',
        children,
      })
    }
    return nodes
  }
  return { lengthUnit: tape.lengthUnit, nodes: build(noParent) }
}

const nameOf = (indexed: Indexed, index: number): string => {
  const { tape } = indexed
  const id = idOf(tape, index)
  const parent = parentOf(tape, index)
  if (parent === noParent) return rootNames[id] ?? rootRangeName(id)
  const parentId = idOf(tape, parent)
  if (parentOf(tape, parent) === noParent) {
    if (parentId === 62) {
      return additionalNames[id] ?? (id >= 50 ? 'payment system specific' : 'reserved')
    }
    if (parentId === 64) return languageNames[id] ?? 'reserved'
  }
  if (id === 0) return 'globally unique identifier'
  const gui = childOf(tape, parent, 0)
  const isPix = gui !== noParent && textOf(indexed, gui).toLowerCase() === pixGui
  return (isPix ? pixNames[id] : undefined) ?? 'payment network specific'
}

const rootRangeName = (id: number): string => {
  if (id <= 25) return 'merchant account, card network'
  if (id <= 51) return 'merchant account'
  return id >= 80 ? 'unreserved template' : 'reserved'
}
