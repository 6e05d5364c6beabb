import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Agreement } from '../../src/drex/agreements/store.ts'
import { createReader } from '../../src/drex/agreements/told.ts'
import type { Log } from '../../src/drex/rpc/methods.ts'
import { loadArtifact } from '../../src/drex/templates/index.ts'

test('the reason of whoever cancels is kept as text, and cut', async () => {
  const abi = new Interface((await loadArtifact('bond_delivery')).abi as never)
  const event = abi.getEvent('TradeCancelled')!
  const contract = `0x${'c0'.repeat(20)}` as const
  const agreement = { kind: 'delivery', contract, terms: { number: '1' } } as Agreement
  const reader = await createReader()
  const reasonOf = (reason: string) => {
    const values = event.inputs.map(({ type, name }) =>
      type === 'string' ? reason : type === 'address' ? contract : name === 'operationId' ? 1 : 0,
    )
    const { topics, data } = abi.encodeEventLog(event, values)
    return reader.decode(agreement, { address: contract, topics, data } as unknown as Log)?.args
  }
  expect(Object.values(reasonOf('No\0') ?? {})).toContain('no\ufffd')
  const cut = Object.values(reasonOf(`${'a'.repeat(299)}${'😀'.repeat(100_000)}`) ?? {})
  expect(cut).toContain(`${'a'.repeat(299)}\ufffd`)
})
