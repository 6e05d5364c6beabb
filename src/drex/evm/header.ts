/** The hash of a block's header, made from what the node tells of it: what a block's hash says no node can alter. */

import { bytesToHex, type Hex, hexToBytes } from './hex.ts'
import { keccak256 } from './keccak.ts'
import { decodeRlp, type RlpItem, rlpEncode, rlpInteger } from './rlp.ts'
import { recoverAddress } from './secp256k1.ts'

/** In the order of the header; those of later forks are missing on chains that have not had them. */
export type Header = {
  readonly parentHash: Hex
  readonly sha3Uncles: Hex
  readonly miner: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Hex
  readonly difficulty: bigint
  readonly number: bigint
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly timestamp: bigint
  readonly extraData: Hex
  readonly mixHash: Hex
  readonly nonce: Hex
  readonly baseFeePerGas: bigint | undefined
  readonly withdrawalsRoot: Hex | undefined
  readonly blobGasUsed: bigint | undefined
  readonly excessBlobGas: bigint | undefined
  readonly parentBeaconBlockRoot: Hex | undefined
  readonly requestsHash: Hex | undefined
}

/** The mix hash of every block that IBFT 2.0 or QBFT made (Besu, Istanbul digest). */
const bftMixHash: Hex = '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365'

/** @returns whether the hash is that of the header */
export const isHeaderOf = (header: Header, hash: Hex): boolean => {
  if (hashWith(header, hexToBytes(header.extraData)) === hash) return true
  if (header.mixHash !== bftMixHash) return false
  return bftForms(header.extraData).some((extra) => hashWith(header, extra) === hash)
}

const hashWith = (header: Header, extraData: Uint8Array): Hex =>
  bytesToHex(keccak256(rlpEncode(fieldsOf(header, extraData))))

const fieldsOf = (header: Header, extraData: Uint8Array): readonly RlpItem[] => {
  const { parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot } = header
  const roots = [parentHash, sha3Uncles, miner, stateRoot, transactionsRoot, receiptsRoot]
  const { difficulty, number, gasLimit, gasUsed, timestamp } = header
  const later = [
    header.baseFeePerGas,
    header.withdrawalsRoot,
    header.blobGasUsed,
    header.excessBlobGas,
    header.parentBeaconBlockRoot,
    header.requestsHash,
  ]
  return [
    ...roots.map(hexToBytes),
    hexToBytes(header.logsBloom),
    ...[difficulty, number, gasLimit, gasUsed, timestamp].map(rlpInteger),
    extraData,
    hexToBytes(header.mixHash),
    hexToBytes(header.nonce),
    ...later.flatMap((each) =>
      each === undefined ? [] : [typeof each === 'bigint' ? rlpInteger(each) : hexToBytes(each)],
    ),
  ]
}

/**
 * The extra data as the hash of a QBFT or IBFT 2.0 block has it: vanity, validators and vote, without the round and the
 * validators' seals, which come after the hash is made.
 */
const bftForms = (extraData: Hex): readonly Uint8Array[] => {
  const kept = bftParts(extraData)?.slice(0, 3)
  return kept === undefined ? [] : [rlpEncode([...kept, rlpInteger(0), []]), rlpEncode(kept)]
}

/** Vanity, validators, vote, round and seals. */
const bftParts = (extraData: Hex): readonly RlpItem[] | undefined => {
  const parts = decodeRlp(hexToBytes(extraData))
  return parts === undefined || parts instanceof Uint8Array || parts.length !== 5
    ? undefined
    : parts
}

/**
 * @param validators that are trusted, whatever the header itself names
 * @returns whether two thirds of them sealed it: what they sign is the header with the round and without the seals, whose
 *   place QBFT leaves empty and IBFT 2.0 leaves out
 */
export const isSealedBy = (header: Header, validators: readonly Hex[]): boolean => {
  const parts = bftParts(header.extraData)
  const seals = parts?.[4]
  if (parts === undefined || seals === undefined || seals instanceof Uint8Array) return false
  const signed = parts.slice(0, 4)
  return [rlpEncode([...signed, []]), rlpEncode(signed)].some((extra) => {
    const digest = hexToBytes(hashWith(header, extra))
    const sealers = new Set(seals.slice(0, sealsMax).map((seal) => sealerOf(digest, seal)))
    const trusted = new Set(validators.filter((each) => sealers.has(each)))
    return trusted.size * 3 >= new Set(validators).size * 2
  })
}

/** A header may hold as many as its maker likes. */
const sealsMax = 256

const sealerOf = (digest: Uint8Array, seal: RlpItem): Hex | undefined => {
  if (!(seal instanceof Uint8Array) || seal.length !== 65 || seal[64]! > 1) return undefined
  try {
    return recoverAddress(digest, { compact: seal.subarray(0, 64), yParity: seal[64] as 0 | 1 })
  } catch {
    return undefined
  }
}
