import { expect, test } from 'bun:test'
import { cardNetworkSimulator } from '../../../src/cli/sim/card-network.ts'
import { centralBankSimulator } from '../../../src/cli/sim/central-bank.ts'
import { chainSimulator } from '../../../src/cli/sim/chain.ts'
import { directorySimulator } from '../../../src/cli/sim/directory.ts'
import type { Simulator } from '../../../src/cli/sim/simulator.ts'

const start = (simulator: Simulator, options: Readonly<Record<string, string>>) =>
  simulator.start({
    positionals: [simulator.name],
    text: (name) => options[name],
    flag: () => false,
    integer: (name) => {
      const given = options[name] ?? (name.endsWith('port') ? '0' : undefined)
      return given === undefined ? undefined : Number(given)
    },
  })

const simulators = [
  { simulator: cardNetworkSimulator, options: ['port', 'vault-port'] },
  { simulator: centralBankSimulator, options: ['port', 'secondary-port'] },
  { simulator: chainSimulator, options: ['port'] },
  { simulator: directorySimulator, options: ['port'] },
]

test.each(simulators)('a taken port is told: $simulator.name', async ({ simulator, options }) => {
  const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  for (const option of options) {
    const said = await start(simulator, { [option]: String(taken.port) }).catch(String)
    expect(said).toBe(
      `Error: --${option}: cannot listen on 127.0.0.1, port ${taken.port}: it is in use`,
    )
  }
  taken.stop(true)
})

test.each(simulators)('so is a host that is not there: $simulator.name', async ({ simulator }) => {
  const said = await start(simulator, { host: 'nohost.invalid' }).catch(String)
  expect(said).toStartWith('Error: --port: cannot listen on nohost.invalid, port 0: ')
})
