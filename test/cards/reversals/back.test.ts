import { expect, test } from 'bun:test'
import { until } from '../../support/card-network.ts'
import { authorizationBody, createCardsRig } from '../../support/cards-rig.ts'

type Refused = { readonly error: { readonly details: { readonly transaction_id: string } } }

test('what waits for a network goes out when the network is back, before the next look is due', async () => {
  await using rig = await createCardsRig({ reversalPollMs: 300_000, timeoutMs: 5_000 })
  const [simulator] = rig.simulators
  const up = () => rig.networks.byName('neta')?.health().connectionsUp
  const body = authorizationBody('tok_visa_timeout')
  const answer = rig.post('/v1/transactions/authorize', body)
  await until(() => simulator.statistics().received['0100'] === 1, 'the request at the network')
  simulator.stop()
  await until(() => up() === 0, 'the network being away')
  expect((await answer).status).toBe(502)
  simulator.start()
  const { error } = (await (await answer).json()) as Refused
  expect((await rig.settled(String(error.details.transaction_id))).status).toBe('voided')
})
