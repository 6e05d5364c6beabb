import { type Act, may, sending, useListActs } from './act.tsx'
import type { ScreenProps } from './api.ts'
import { asking } from './asking.ts'
import { actsColumn } from './attention-section.tsx'
import { DirectoryList, DirectoryTabs } from './directory.tsx'
import { kindIn, removalReasons } from './directory-kinds.ts'
import { codeText } from './directory-words.ts'
import { asTheyAre, textIn } from './fields.tsx'
import { Filters, Sought } from './filters.tsx'
import { count } from './format.ts'
import { ScreenHead } from './heads.tsx'
import { pageFrom } from './page-from.ts'
import { pixKeyWords as w } from './pix-key-words.ts'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { type Column, column, momentColumn, PagedTable } from './table.tsx'
import { fill, words } from './words.ts'

type Entry = {
  readonly id: string
  readonly key_type: string
  readonly key: string | null
  readonly status: string
  readonly owner: { readonly tax_id: string; readonly name: string }
  readonly account: {
    readonly branch: string | null
    readonly number: string
    readonly type: string
  }
  readonly refusal: string | null
  readonly created_at: string
}

const path = '/v1/dict/entries'
const keyTypes = ['CPF', 'CNPJ', 'PHONE', 'EMAIL', 'EVP'] as const

const columns: readonly Column<Entry>[] = [
  column(w.key, ({ key }) => key ?? w.notYet, 'wide mono'),
  column(w.kind, ({ key_type: type }) => type),
  column(words.status, ({ status, refusal }) => (
    <>
      <Badge status={status} /> {refusal !== null && <span class="mono">{refusal}</span>}
    </>
  )),
  column(w.owner, ({ owner }) => owner.name, 'extra'),
  column(
    w.account,
    ({ account: { branch, number } }) => [branch, number].filter(Boolean).join(' · '),
    'mono extra',
  ),
  momentColumn(({ created_at }) => created_at),
]

const compareAct: Act = {
  title: w.compare,
  consequence: w.compareConsequence,
  verb: w.verb,
  fields: [{ name: 'type', label: w.kind, choices: asTheyAre(keyTypes) }],
  run: sending(
    'POST',
    '/v1/dict/verifications',
    (form) => ({ key_type: textIn(form, 'type') }),
    ({ entries, result }: { entries: number; result: 'same' | 'different' }) =>
      fill(w[result], { count: count(entries) }),
  ),
}

const removeAct = ({ id, key }: Entry): Act => ({
  title: w.remove,
  consequence: fill(w.removeConsequence, { key: key ?? id }),
  fields: [
    {
      name: 'reason',
      label: w.reason,
      choices: removalReasons.map((reason) => [reason, codeText(reason)]),
    },
  ],
  run: sending(
    'DELETE',
    (form) => `${path}/${encodeURIComponent(id)}?reason=${textIn(form, 'reason')}`,
    undefined,
    ({ status }: Entry) => <Badge status={status} />,
  ),
})

/** Our keys in the directory of Pix keys, or one of the lists of claims and disputes. */
export const PixKeys = ({ query, session }: ScreenProps) => {
  const kind = kindIn(query.get('show'))
  return kind === undefined ? (
    <Keys query={query} session={session} />
  ) : (
    <DirectoryList key={kind} {...{ kind, query, session }} />
  )
}

/** Our keys, the newest first; the address holds the search. */
const Keys = ({ query, session }: ScreenProps) => {
  const key = (query.get('key') ?? '').trim()
  const { turn, ask, dialog } = useListActs()
  const mayAct = may(session, 'dict:write')
  const acts = actsColumn<Entry>(mayAct, ask, (one) =>
    one.status === 'registered' ? [removeAct(one)] : [],
  )
  return (
    <>
      <ScreenHead title={w.title} intro={w.intro}>
        {mayAct && (
          <button type="button" onClick={() => ask(compareAct)}>
            {w.compare}
          </button>
        )}
      </ScreenHead>
      <DirectoryTabs />
      <Search key={`search ${key}`} sought={key} />
      <PagedTable
        name={`entries ${key} ${turn}`}
        load={pageFrom<Entry>(path, 'entries', { key })}
        columns={[...columns, ...acts]}
        empty={key === '' ? w.none : words.none}
        keyOf={({ id }) => id}
      />
      {dialog}
    </>
  )
}

const addressOf = (key: string): string => asking('/pix-keys', { key })

const Search = ({ sought }: { readonly sought: string }) => (
  <Filters
    addressOf={(given) => addressOf((given('key') ?? '').trim())}
    after={
      sought !== '' && (
        <Link to="/pix-keys" class="button">
          {words.all}
        </Link>
      )
    }
  >
    <Sought name="key" type="search" label={w.key} value={sought} />
  </Filters>
)
