import { useEffect, useRef } from 'preact/hooks'
import { Refusal, type Session } from './api.ts'
import { type ChainPlace, OnChain } from './chain.tsx'
import { type Explained, ExplainedLines, explain, VerdictBadge, type Wanted } from './explained.tsx'
import { useLast } from './last.ts'
import { loadNetworks } from './networks.ts'
import { Card, orNone, Refused } from './parts.tsx'
import { type Filter, pageOfRail, paymentColumns, type Rail, type Row, railLists } from './rails.ts'
import { ListTable } from './table.tsx'
import { toolWords as w } from './tools-words.ts'

const contentCharsMax = 65_536
const foundMax = 20

/** The bundler puts both in. */
declare const inspectorNames: readonly string[]
declare const builtInDialects: readonly string[]

/** Identifiers of payments by their form, with the rail and the parameter that find them. */
const identifiers: readonly { readonly form: RegExp; readonly rail: Rail; readonly as: string }[] =
  [
    { form: /^[EDM][0-9A-Z]{8}[0-9]{12}[0-9A-Za-z]{11}$/, rail: 'spi', as: 'end_to_end_id' },
    { form: /^0x[0-9a-fA-F]{64}$/, rail: 'drex', as: 'tx_hash' },
    { form: /^0x[0-9a-fA-F]{40}$/, rail: 'drex', as: 'wallet' },
    { form: /^\d{12}$/, rail: 'cards', as: 'rrn' },
  ]

type Result =
  | { readonly kind: 'message'; readonly message: Explained }
  | {
      readonly kind: 'payments'
      readonly rows: readonly Row[]
      readonly places: readonly ChainPlace[]
    }

const resultOf = async (content: string, wanted: Wanted, session: Session): Promise<Result> => {
  const known = identifiers.find(
    ({ form, rail }) => form.test(content) && session.scopes.includes(railLists[rail].scope),
  )
  if (known === undefined || wanted.kind !== undefined) {
    return { kind: 'message', message: await explain(content, wanted) }
  }
  const filter: Filter = { find: content, as: known.as, status: '' }
  const { rows } = await pageOfRail(known.rail, filter, foundMax)
  const places = known.as === 'tx_hash' ? await placesOf(content) : []
  return { kind: 'payments', rows, places }
}

/** A hash may be on each configured network. */
const placesOf = async (hash: string): Promise<readonly ChainPlace[]> => {
  const { networks } = await loadNetworks()
  return networks
    .filter(({ configured }) => configured)
    .map(({ id }) => ({ network: id, hash, of: id }))
}

/**
 * Explains whatever a person pastes.
 *
 * @param query the query of the address: a new one explains `given` again, even if it is the same
 */
export const Explain = ({
  session,
  given,
  query,
}: {
  readonly session: Session
  readonly given: string
  readonly query: URLSearchParams
}) => {
  const [result, askLast] = useLast<Result>()
  const text = useRef<HTMLTextAreaElement>(null)
  const run = (content: string, wanted: Wanted) =>
    void askLast(resultOf(content.trim(), wanted, session))
  useEffect(() => {
    if (given === '') return
    // A person may have typed something else meanwhile: show the text that is explained.
    if (text.current !== null) text.current.value = given
    run(given, {})
  }, [query])
  return (
    <>
      <form
        class="card pad"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          const [kind, dialect] = [String(form.get('kind')), String(form.get('dialect'))]
          run(String(form.get('content')), {
            ...(kind === '' ? {} : { kind }),
            ...(dialect === '' ? {} : { kind: 'iso8583', dialect }),
          })
        }}
      >
        <label class="field">
          {w.paste}
          <textarea
            ref={text}
            name="content"
            required
            rows={8}
            maxLength={contentCharsMax}
            spellcheck={false}
          />
          <small>{w.pasteHint}</small>
        </label>
        <div class="filters">
          <Choice name="kind" label={w.kind} empty={w.recognised} values={inspectorNames} />
          <Choice name="dialect" label={w.dialect} empty={w.dialect} values={builtInDialects} />
          <button class="primary" type="submit">
            {w.explain}
          </button>
        </div>
      </form>
      <div aria-live="polite">{result !== undefined && <Shown result={result} />}</div>
    </>
  )
}

const Choice = ({
  name,
  label,
  empty,
  values,
}: {
  readonly name: string
  readonly label: string
  readonly empty: string
  readonly values: readonly string[]
}) => (
  <select name={name} aria-label={label}>
    <option value="">{empty}</option>
    {values.map((value) => (
      <option key={value} value={value}>
        {value}
      </option>
    ))}
  </select>
)

const Shown = ({ result }: { readonly result: Result | Refusal }) => {
  if (result instanceof Refusal) return <Refused refusal={result} isBox />
  switch (result.kind) {
    case 'payments':
      return (
        <>
          <Card title={w.found}>
            {orNone(
              result.rows,
              w.noneFound,
              <ListTable columns={paymentColumns} rows={result.rows} keyOf={({ to }) => to} />,
            )}
          </Card>
          {result.places.map((place) => (
            <OnChain key={place.network} {...place} />
          ))}
        </>
      )
    case 'message':
      return (
        <Card title={result.message.title} aside={<VerdictBadge message={result.message} />}>
          {result.message.failure !== null && <p role="alert">{result.message.failure}</p>}
          <ExplainedLines {...result.message} />
        </Card>
      )
  }
}
