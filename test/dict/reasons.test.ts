/** The reasons that the directory takes: as we spell them, against its own schema, and wherever people read them. */
import { describe, expect, test } from 'bun:test'
import { infractionReasons, refundReasons, refundRejectionReasons } from '#codecs/dict'
import { cancelReasons, confirmReasons, reasonsFor } from '../../src/dict/claims/domain.ts'
import { changeReasons, removalReasons } from '../../src/dict/entries/domain.ts'
import { hasSharedData, readSharedData, skipReason } from '../support/shared-data.ts'

const lists = {
  confirmReasons,
  cancelReasons,
  changeReasons,
  removalReasons,
  infractionReasons,
  refundReasons,
  refundRejectionReasons,
}
const all = [...new Set(Object.values(lists).flat())]

const claimTypes = ['OWNERSHIP', 'PORTABILITY'] as const
const roles = ['donor', 'claimer'] as const

/** With what no state takes away. */
const given = (act: 'confirm' | 'cancel') => (type: (typeof claimTypes)[number]) =>
  roles.map((role) => [...reasonsFor({ type, role, status: 'open' }, act)])

test.each(['confirm', 'cancel'] as const)(
  'what the API takes to %s a claim is what some side may give',
  (act) => {
    const possible = new Set(claimTypes.flatMap(given(act)).flat())
    expect([...possible].toSorted()).toEqual([...lists[`${act}Reasons`]].toSorted())
  },
)

const textOf = (name: string): string => new TextDecoder().decode(readSharedData(`dict/${name}`))

/** The schema that was published as open source is 1.8.0: what 2.12.1 added to it, or no longer has. */
const official: Readonly<
  Record<string, Readonly<Record<'ours' | 'added' | 'gone', readonly string[]>>>
> = {
  ClaimOperationReason: {
    ours: [...cancelReasons, ...confirmReasons],
    added: ['RFB_VALIDATION'],
    gone: [],
  },
  EntryOperationReason: {
    // The last is given by comparisons alone.
    ours: [...removalReasons, ...changeReasons, 'RECONCILIATION'],
    added: ['RFB_VALIDATION'],
    gone: [],
  },
  InfractionType: { ours: infractionReasons, added: [], gone: ['FRAUD'] },
  RefundReason: { ours: refundReasons, added: ['PIX_AUTOMATICO'], gone: ['REFUND_CANCELLED'] },
  RefundRejectionReason: {
    ours: refundRejectionReasons,
    added: ['INVALID_REQUEST'],
    gone: ['CANNOT_REFUND'],
  },
}

describe.if(hasSharedData)(`the directory’s own schema${skipReason}`, () => {
  test.each(Object.entries(official))('%s', (name, { ours, added, gone }) => {
    const schemas = Bun.YAML.parse(textOf('schemas.yaml')) as Record<string, { enum?: string[] }>
    const theirs = schemas[name]?.enum ?? []
    const kept = [...theirs, ...added].filter((each) => !gone.includes(each))
    expect([...new Set(ours)].toSorted()).toEqual(kept.toSorted())
    expect(theirs).toEqual(expect.arrayContaining([...gone]))
    expect(added.filter((each) => theirs.includes(each))).toEqual([])
  })

  /** A row of its table: the reason, and what donor and claimer may do of each type. */
  const row = new RegExp(`<td>([A-Z_]+)</td>${'\\s*<td>(✓?)</td>'.repeat(4)}`, 'g')

  test.each(['confirm', 'cancel'] as const)('who may %s a claim, and why', (act) => {
    const [, operation = ''] = textOf('openapi.yaml').split(`operationId: ${act}Claim`)
    const [table = ''] = operation.split('</table>')
    const rows = [...table.matchAll(row)]
    expect(rows.length).toBeGreaterThan(2)
    const theirs = [1, 2, 3, 4].map((place) =>
      rows.filter((each) => each[place + 1] === '✓').map(([, reason]) => reason!),
    )
    const ours = claimTypes.flatMap(given(act))
    expect(ours.map((each) => each.filter((reason) => reason !== 'RFB_VALIDATION'))).toEqual(theirs)
  })
})

describe('whoever reads of reasons reads of all of them', () => {
  const read = (path: string) => Bun.file(`${import.meta.dir}/../../${path}`).text()

  test('in the page of the directory', async () => {
    const page = await read('docs/dict.md')
    expect(all.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([])
  })

  test('in words, on the screen', async () => {
    const words = await read('src/console/browser/directory-words.ts')
    const shown = all.filter((reason) => reason !== 'BRANCH_TRANSFER')
    expect(shown.filter((reason) => !words.includes(`\n  ${reason}: `))).toEqual([])
  })
})
