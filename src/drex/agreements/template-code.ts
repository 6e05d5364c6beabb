/** Whether a contract is what a template makes, whoever deployed it: its code is compared, not its name. */
import { refusedValue } from '#src/platform/http/index.ts'
import { type Chain, reaching } from '../chains.ts'
import { readAbi, readAnswer } from '../contracts/abi.ts'
import { simulateCall } from '../contracts/simulation.ts'
import type { Hex } from '../evm/hex.ts'
import { loadArtifact, type TemplateName } from '../templates/index.ts'

/** PUSH32 of zeros: where the code of a template leaves room for what its constructor sets. */
const room = `7f${'00'.repeat(32)}`

/** @param template the code with room for its immutable values */
export const isCodeOf = (code: string, template: string): boolean => {
  if (code.length !== template.length) return false
  let at = 0
  for (;;) {
    const next = template.indexOf(room, at)
    const end = next === -1 ? template.length : next + 2
    if (code.slice(at, end) !== template.slice(at, end)) return false
    if (next === -1) return true
    at = next + room.length
  }
}

/** @throws ApiError `value_refused` if the member `contract` of a request names none of the template */
export const requireTemplateCode = async (
  chain: Chain,
  address: Hex,
  template: TemplateName,
): Promise<void> => {
  const code = await reaching(chain, () => chain.rpc.call('eth_getCode', address, 'latest'))
  const { deployedBytecode } = await loadArtifact(template)
  if (isCodeOf(code.toLowerCase(), deployedBytecode.toLowerCase())) return
  const message = `has not the code of the template ${template}`
  throw refusedValue([{ pointer: '/contract', rule: 'template', message, got: address }])
}

/** Asks views of a contract that is of a template; each answer as text, value by value. */
export const createViews = async (
  chain: Chain,
  template: TemplateName,
  block: Hex | 'latest' = 'latest',
) => {
  const abi = await readAbi((await loadArtifact(template)).abi)
  return async (
    to: Hex,
    name: string,
    args: readonly unknown[] = [],
  ): Promise<readonly string[]> => {
    const data = abi.encodeFunctionData(name, [...args]) as Hex
    return readAnswer(abi, name, await simulateCall(chain, { to, data }, [abi], block)).map(String)
  }
}
