/** A contract template has one folder, with its Solidity, its parameters and its compiled form. */
import type { ZodType } from 'zod'
import { acceptable } from '#src/platform/http/index.ts'
import type { Hex } from '../evm/hex.ts'

/** The values that a template takes from its network and deployer. */
export type Place = {
  /** Wallet that deploys; it becomes the owner unless another is named. */
  readonly deployer: Hex
  /** Currency of the network. */
  readonly token: Hex
  /**
   * An amount of a token in its smallest unit.
   *
   * @param field the parameter that holds the amount
   * @throws ApiError `value_refused` if it has more fraction digits than the token
   */
  readonly unitsOf: (token: Hex, amount: string, field: string) => Promise<bigint>
}

export type Artifact = {
  readonly contractName: string
  readonly abi: readonly unknown[]
  readonly bytecode: string
  readonly deployedBytecode: string
}

export type Template = {
  /** What a caller sends as `params`. */
  readonly params: ZodType
  /** The path is a literal in each template, so that the compiled executable carries the file. */
  readonly artifact: () => Promise<{ readonly default: Artifact }>
  /** @throws ApiError `value_refused` with every bad field */
  readonly constructorArguments: (params: unknown, place: Place) => Promise<readonly unknown[]>
}

export const defineTemplate = <T>(definition: {
  readonly params: ZodType<T>
  readonly artifact: Template['artifact']
  /** The constructor's arguments, in its order. */
  readonly terms: (params: T, place: Place) => readonly unknown[] | Promise<readonly unknown[]>
}): Template => ({
  params: definition.params,
  artifact: definition.artifact,
  constructorArguments: async (params, place) =>
    definition.terms(acceptable(definition.params, params), place),
})
