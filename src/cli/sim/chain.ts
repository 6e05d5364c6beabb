import {
  type Chain,
  createChain,
  createIssuer,
  createKeptChain,
  faultKinds,
  isChainMissing,
  type KeptChain,
  setAsideText,
} from '#src/simulators/chain/index.ts'
import { type CommandArguments, UsageError } from '../command.ts'
import { listening } from './listening.ts'
import { faultRates } from './rates.ts'
import type { Simulator } from './simulator.ts'

/** The port of a Besu node. */
const port = 8545
const portMax = 65_535
const blockTimeMs = 1_000
const blockTimeMsMax = 600_000

/** `trilho sim chain`: a node of the network of digital currency, with its currency and directory. */
export const chainSimulator: Simulator = {
  name: 'chain',
  summary: 'A node of the network of digital currency over JSON-RPC, with its currency.',
  options: {
    host: { value: 'host', doc: 'Where to listen; 127.0.0.1.' },
    port: { value: 'port', doc: `Of JSON-RPC; ${port}. 0: a free one.` },
    'block-time-ms': { value: 'ms', doc: `From a transaction to its block; ${blockTimeMs}.` },
    file: {
      value: 'file',
      doc: 'Keeps the chain, which goes on at the next start. One that cannot is set aside beside it.',
    },
    faults: {
      value: 'name=rate,…',
      doc: `Faults by chance, such as unavailable=0.01: ${faultKinds.join(', ')}.`,
    },
  },
  example: 'trilho sim chain --port 8545 --block-time-ms 500',
  start: async (args) => {
    const rates = faultRates(args, faultKinds)
    const chain = await started(args)
    const setAside = 'setAside' in chain ? chain.setAside : undefined
    const { token, directory } = await createIssuer(chain)
    chain.faults.set([...rates].map(([kind, probability]) => ({ kind, probability })))
    const { url, chainId } = chain
    return {
      place: { chain: { url, chain_id: chainId, token, directory, set_aside: setAside } },
      lines: [
        ...(setAside === undefined ? [] : [setAsideText(setAside)]),
        `node       ${url}  chain ${chainId}`,
        `currency   ${token}; everybody may admit accounts and issue`,
        `directory  ${directory}`,
        `settings   DREX_TESTNET_RPC_URLS=${url} DREX_TESTNET_TOKEN=${token} DREX_TESTNET_DIRECTORY=${directory}`,
      ],
      statistics: () => ({ calls: chain.calls() }),
      stop: chain.stop,
    }
  },
}

const started = async (args: CommandArguments) => {
  const blockTime = args.integer('block-time-ms', 10, blockTimeMsMax) ?? blockTimeMs
  const path = args.text('file')
  const place = { host: args.text('host'), port: args.integer('port', 0, portMax) ?? port }
  try {
    return await listening(
      () => ({ ...place, option: '--port' }),
      (): Promise<Chain | KeptChain> =>
        path === undefined
          ? createChain({ mining: blockTime, ...place })
          : createKeptChain({ path, blockTimeMs: blockTime }, place),
    )
  } catch (error) {
    if (!isChainMissing(error)) throw error
    throw new UsageError(
      'the embedded chain is not installed: npm leaves its native part out under a Node older than 22',
    )
  }
}
