import { expect, test } from 'bun:test'
import * as api from '../../src/drex/lanes.ts'
import { loadConsole } from './load-console.ts'

/* The API bounds how many open transactions of a lane it counts and sends again: the console says so. */

type Lane = { readonly sender: string; readonly wallet_id: string; readonly open: number }
type Page = {
  readonly lanesMax: number
  readonly resentMax: number
  readonly openText: (open: number) => string
  readonly resendLaneAct: (lane: Lane) => { readonly consequence: string }
}
const modules = ['lanes.ts', 'attention-acts.tsx']
const page = await loadConsole<Page>(modules)
const portuguese = await loadConsole<Page>(modules, 'pt')

test('the bounds are those of the API', () => {
  const { lanesMax, resentMax, openText } = page
  expect([lanesMax, resentMax]).toEqual([api.lanesMax, api.resentMax])
  expect([openText(api.openMax - 1), openText(api.openMax)]).toEqual(['999', '1,000+'])
})

test.each([
  ['English', page, '1,000+ open', 'at most 500 on each network'],
  ['Portuguese', portuguese, '1.000+ em aberto', 'no máximo 500 em cada rede'],
])('in %s: the question says how much is sent again', (_, { resendLaneAct }, open, most) => {
  const { consequence } = resendLaneAct({ sender: '0x1', wallet_id: 'w', open: 1_000 })
  for (const text of [open, most]) expect(consequence).toContain(text)
})
