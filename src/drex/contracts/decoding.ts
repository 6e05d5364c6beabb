/** What the bytes of a call or a log say, by the interfaces that may explain them. */
import type { Interface } from 'ethers'
import type { Hex } from '../evm/hex.ts'
import { bareName, decodeEvent, toJson } from './abi.ts'

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
    const { inputs } = call.fragment
    const args = call.args.toArray().map((value, i): readonly [string, unknown] => {
      const name = inputs[i]?.name ?? ''
      return [name === '' ? String(i) : bareName(name), toJson(value)]
    })
    return { signature: call.signature, args: Object.fromEntries(args) }
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
      // It is not what this interface takes it for.
    }
  }
  return undefined
}
