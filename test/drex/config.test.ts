import { expect, test } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import { drexSettings } from '../../src/drex/config.ts'

const right = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

test('an address whose checksum is wrong is a problem of the setting that has it', () => {
  const wrong = right.replace('BeAed', 'BeAeD')
  const { problems } = loadSettings(
    { drex: drexSettings },
    { DREX_TESTNET_TOKEN: wrong, DREX_TESTNET_TOKENS: `${right},${wrong}` },
  )
  expect(problems.map(({ name, problem }) => [name, problem])).toEqual([
    ['DREX_TESTNET_TOKEN', 'has a wrong checksum'],
    ['DREX_TESTNET_TOKENS', 'has a wrong checksum'],
  ])
})

test('addresses are kept in one case', () => {
  const { values } = loadSettings({ drex: drexSettings }, { DREX_TESTNET_TOKENS: right })
  expect(values.drex['drex_testnet.tokens']).toEqual([right.toLowerCase() as `0x${string}`])
})
