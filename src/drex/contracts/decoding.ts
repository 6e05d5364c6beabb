/** Explains the bytes of a call or a log by the interfaces that may fit them. */
import type { Interface } from 'ethers'
import type { Hex } from '../evm/hex.ts'
import { decodeEvent, toJson } from './abi.ts'
import { byName } from './names.ts'

export type Decoded = {
  readonly signature: string
  /** By name, or by place where an argument has none. */
  readonly args: Readonly<Record<string, unknown>>
}

/** @returns undefined if none of the interfaces has the function, or its arguments are nonsense */
export const decodeCall = (abis: readonly Interface[], data: Hex): Decoded | undefined =>
  first(abis, (abi) => {
    const call = abi.parseTransaction({ data })
    if (call === null) return undefined
    const args = byName(call.fragment.inputs, call.args.toArray().map(toJson))
    return { signature: call.signature, args }
  })

/** @returns undefined if none of the interfaces has the event, or its arguments are nonsense */
export const decodeLog = (
  abis: readonly Interface[],
  log: { readonly topics: readonly Hex[]; readonly data: Hex },
): Decoded | undefined => {
  const [topic] = log.topics
  if (topic === undefined) return undefined
  return first(abis, (abi) => {
    const signature = abi.getEvent(topic)?.format()
    const args = signature === undefined ? undefined : decodeEvent(abi, signature, log)
    return signature === undefined || args === undefined ? undefined : { signature, args }
  })
}

/** Others may explain what one cannot read: the same event may have its arguments in other places. */
const first = (
  abis: readonly Interface[],
  decode: (abi: Interface) => Decoded | undefined,
): Decoded | undefined => {
  for (const abi of abis) {
    try {
      const decoded = decode(abi)
      if (decoded !== undefined) return decoded
    } catch {
      // The bytes do not fit this interface.
    }
  }
  return undefined
}
