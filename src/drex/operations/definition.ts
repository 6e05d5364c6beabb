/** What one operation with the network's own contracts is: its parameters, and the steps that it takes. */
import type { ZodType } from 'zod'
import { acceptable } from '#src/platform/http/index.ts'
import type { Chain } from '../chains.ts'
import { readAbi } from '../contracts/abi.ts'
import type { Hex } from '../evm/hex.ts'
import type { Receipt } from '../rpc/methods.ts'
import type { Step } from '../sagas.ts'
import { loadArtifact, type TemplateName } from '../templates/index.ts'

/** Where an operation is asked for. */
export type OperationPlace = {
  readonly chain: Chain
  /** The wallet that asks, and signs what is not said otherwise. */
  readonly signer: Hex
  /**
   * Another wallet that signs a step.
   * @param field the parameter that names it
   * @throws ApiError if the caller may not sign with it, or its policy limits money
   */
  readonly signerOf: (wallet: Hex, field: string) => Promise<Hex>
  /**
   * An amount in the token's smallest unit.
   * @param field the parameter that holds the amount
   * @throws ApiError `value_refused` if it has more fraction digits than the token
   */
  readonly unitsOf: (token: Hex, amount: string, field: string) => Promise<bigint>
}

/** What a receipt tells beyond the status, by name. */
export type OperationResult = Readonly<Record<string, string>>

type ReadResult = (
  receipt: Receipt,
  call: { readonly sender: Hex; readonly recipient: Hex; readonly data: Hex },
) => OperationResult | undefined

export type OperationDefinition = {
  /** What a caller sends as `params`. */
  readonly params: ZodType
  readonly summary: string
  /** Needs the right to transfer, and a wallet whose policy limits no money. */
  readonly movesMoney: boolean
  /** @throws ApiError `value_refused` with every bad field, `not_in_directory` or `not_configured` */
  readonly stepsOf: (params: unknown, place: OperationPlace) => Promise<readonly Step[]>
  /** Reads the receipt of the last step, which made this call; absent where there is nothing to tell. */
  readonly resultOf?: ReadResult | undefined
}

export const defineOperation = <T>(definition: {
  readonly params: ZodType<T>
  readonly summary: string
  readonly movesMoney: boolean
  readonly steps: (params: T, place: OperationPlace) => Promise<readonly Step[]>
  readonly resultOf?: ReadResult
}): OperationDefinition => ({
  params: definition.params,
  summary: definition.summary,
  movesMoney: definition.movesMoney,
  resultOf: definition.resultOf,
  stepsOf: async (params, place) => definition.steps(acceptable(definition.params, params), place),
})

/** A step that calls a function of a contract which has the interface of a template. */
export const callStep = async (
  template: TemplateName,
  { sender, to }: { readonly sender: Hex; readonly to: Hex },
  name: string,
  args: readonly unknown[],
): Promise<Step> => {
  const abi = await readAbi((await loadArtifact(template)).abi)
  const data = abi.encodeFunctionData(name, [...args]) as Hex
  return { kind: 'call', sender, recipient: to, data }
}
