import { expect, test } from 'bun:test'
import { until } from '../../support/card-network.ts'
import { authorizationBody, createCardsRig } from '../../support/cards-rig.ts'
import { approvalOf, createRawPeer, frameOf, type RawConnection } from '../../support/raw-peer.ts'

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

test('repeats leave a connection that takes what it is sent and answers echo tests alone', async () => {
  let dead: RawConnection | undefined
  const over: string[] = []
  const peer = createRawPeer((connection, message) => {
    if (message.mti === '0100') dead ??= connection
    if (message.mti.startsWith('04')) over.push(connection === dead ? 'dead' : 'good')
    if (message.mti === '0800' || connection !== dead) connection.send(frameOf(approvalOf(message)))
  })
  await using rig = await createCardsRig({
    poolSize: 3,
    timeoutMs: 300,
    networkA: { port: () => peer.port, stop: () => peer[Symbol.dispose]() },
  })
  const refused = await rig.post(
    '/v1/transactions/authorize',
    authorizationBody('tok_visa_approved'),
  )
  expect(refused.status).toBe(504)
  const { error } = (await refused.json()) as Refused
  expect((await rig.settled(error.details.transaction_id)).status).toBe('voided')
  // The first one follows its original, which it must not overtake.
  expect(over[0]).toBe('dead')
  expect(over).toContain('good')
})
