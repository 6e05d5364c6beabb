import type { Check } from '#src/platform/lifecycle/index.ts'
import type { Chain } from './chains.ts'

/** Whether a node of each network answers, and is on the network's chain. */
export const chainChecks = (chains: Iterable<Chain>): Promise<readonly Check[]> =>
  Promise.all([...chains].map(checkChain))

const checkChain = async ({ network, rpc }: Chain): Promise<Check> => {
  const name = `Network ${network.id}`
  try {
    const block = await rpc.call('eth_blockNumber')
    return { name, status: 'ok', detail: `a node answers, at block ${block}` }
  } catch (error) {
    return {
      name,
      status: 'failed',
      detail: `no node answers: ${error instanceof Error ? error.message : 'unknown'}`,
      fix: 'check the RPC_URLS of the network, its nodes, and the network between',
    }
  }
}
