import { expect, test } from 'bun:test'
import { possibleFrom, reasonsFor } from '../../src/dict/claims/domain.ts'
import { removalReasons } from '../../src/dict/entries/domain.ts'
import { loadConsole } from './load-console.ts'

/* The console offers the reasons that the API takes from a side now, except those that only a deadline gives. */

type Field = { readonly name: string; readonly choices?: readonly (readonly [string, string])[] }
type Act = { readonly title: string; readonly fields?: readonly Field[] }
const {
  directoryActs,
  directoryWords,
  removalReasons: offered,
} = await loadConsole<{
  readonly directoryActs: (session: object, kind: 'claims', told: object) => readonly Act[]
  readonly directoryWords: Readonly<Record<'confirm' | 'keep' | 'withdraw', string>>
  readonly removalReasons: readonly string[]
}>(['directory-acts.tsx', 'directory-words.ts', 'directory-kinds.ts'])

const session = { scopes: ['dict:write'], restrictions: [] }

const cases = (['OWNERSHIP', 'PORTABILITY'] as const).flatMap((type) =>
  (['donor', 'claimer'] as const).flatMap((role) =>
    (['open', 'waiting_resolution', 'confirmed', 'completed', 'cancelled'] as const).map(
      (status) => ({ type, role, status }),
    ),
  ),
)

test.each(cases)('a claim of %o is confirmed and cancelled for the reasons of the API', (claim) => {
  const acts = directoryActs(session, 'claims', { ...claim, pending: null })
  const shown = (title: string) =>
    acts
      .filter((act) => act.title === title)
      .flatMap(({ fields = [] }) => fields.flatMap(({ choices = [] }) => choices))
      .map(([code]) => code)
      .sort()
  const taken = (act: 'confirm' | 'cancel') =>
    reasonsFor(claim, act)
      .filter((reason) => reason !== 'DEFAULT_OPERATION')
      .filter((reason) => possibleFrom(claim as never, { act, reason } as never) !== null)
      .sort()
  expect(shown(directoryWords.confirm)).toEqual(taken('confirm'))
  const cancel = directoryWords[claim.role === 'donor' ? 'keep' : 'withdraw']
  expect(shown(cancel)).toEqual(taken('cancel'))
  const isOffered = acts.some(({ title }) => title === cancel)
  expect(isOffered).toBe(taken('cancel').length > 0)
})

test('a key is removed for the reasons of the API', () => {
  expect(offered).toEqual(removalReasons)
})
