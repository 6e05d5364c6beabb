import { useState } from 'preact/hooks'
import { type Act, may, sending, useActs } from './act.tsx'
import { getJson, type ScreenProps, type Session, useLoaded } from './api.ts'
import { asTheyAre, givenIn, textIn, textsIn } from './fields.tsx'
import { Back } from './heads.tsx'
import { makeWords as w } from './make-words.ts'
import { Code, Shown } from './parts.tsx'
import { placeOfPayment } from './rails.ts'
import { railWords } from './rails-words.ts'
import { Link } from './router.tsx'
import { type ApiDocument, formOf, loadDocument, type Schema } from './samples.ts'
import { type Given, givenOf, SchemaForm } from './schema-form.tsx'
import { toolWords } from './tools-words.ts'
import { fill, words } from './words.ts'

/** Something of digital currency that a person makes with a form of its schema. */
type Thing = {
  readonly title: string
  readonly consequence: string
  readonly path: string
  readonly scope: string
  /** The page that follows it, from the answer of the API. */
  readonly to: (answer: Readonly<Record<string, string>>) => string
  /** Where the API lists its kinds, each with its own parameters, and the member of the request that names the kind. */
  readonly kinds?: { readonly path: string; readonly list: string; readonly member: string }
}

export const things = {
  transfer: {
    title: w.transfer,
    consequence: w.transferConsequence,
    path: '/v1/drex/transfers',
    scope: 'drex:transfer',
    to: ({ transfer_id: id = '' }) => placeOfPayment('drex', id),
  },
  contract: {
    title: w.contract,
    consequence: w.contractConsequence,
    path: '/v1/contracts/deploy',
    scope: 'contracts:deploy',
    kinds: { path: '/v1/contracts/templates', list: 'templates', member: 'template' },
    to: () => '/currency?show=contracts',
  },
  operation: {
    title: w.operation,
    consequence: w.operationConsequence,
    path: '/v1/drex/operations',
    scope: 'contracts:call',
    kinds: { path: '/v1/drex/operations/types', list: 'operations', member: 'operation' },
    to: () => '/currency?show=operations',
  },
  delivery: {
    title: w.delivery,
    consequence: w.deliveryConsequence,
    path: '/v1/drex/deliveries',
    scope: 'drex:transfer',
    to: ({ delivery_id: id = '' }) => `/currency/deliveries/${encodeURIComponent(id)}`,
  },
  lien: {
    title: w.lien,
    consequence: w.lienConsequence,
    path: '/v1/drex/liens',
    scope: 'drex:transfer',
    to: ({ lien_id: id = '' }) => `/currency/liens/${encodeURIComponent(id)}`,
  },
} as const satisfies Record<string, Thing>

export type ThingName = keyof typeof things

export const isThing = (name: string): name is ThingName => Object.hasOwn(things, name)

/** A link to its form, for sessions that may make it. */
export const MakeLink = ({
  name,
  session,
  isPrimary = false,
}: {
  readonly name: ThingName
  readonly session: Session
  readonly isPrimary?: boolean
}) =>
  may(session, things[name].scope) ? (
    <Link to={`/currency/new/${name}`} class={isPrimary ? 'button primary' : 'button'}>
      {things[name].title}
    </Link>
  ) : null

type KindSchema = Readonly<Record<string, unknown>> & { readonly params: Schema }

/** Makes one: a form, then its consequence, then a link to follow it. */
export const Make = ({ name, session }: ScreenProps & { readonly name: ThingName }) => {
  const thing: Thing = things[name]
  const loaded = useLoaded(`make ${name}`, async () => {
    const { kinds } = thing
    const document = loadDocument()
    const listed = kinds && (await getJson<Record<string, readonly KindSchema[]>>(kinds.path))
    return { document: await document, kinds: listed?.[kinds?.list ?? ''] ?? [] }
  })
  return (
    <>
      <Back to="/currency" text={words.drex} />
      <h1>{thing.title}</h1>
      {may(session, thing.scope) ? (
        <Shown loaded={loaded}>{(known) => <Form thing={thing} {...known} />}</Shown>
      ) : (
        <p class="empty">{words.lacking}</p>
      )}
    </>
  )
}

const exampleIn = (document: ApiDocument, path: string): Given =>
  Object.values(formOf(document, path).examples)[0] as Given

const Form = ({
  thing,
  document,
  kinds,
}: {
  readonly thing: Thing
  readonly document: ApiDocument
  readonly kinds: readonly KindSchema[]
}) => {
  const member = thing.kinds?.member ?? ''
  const [kind, setKind] = useState(() => String(kinds[0]?.[member] ?? ''))
  const [value, setValue] = useState<Given>()
  // The example needs a new form, because its parts choose by their first value.
  const [turn, setTurn] = useState(0)
  const { ask, dialog } = useActs(() => {})
  const params = kinds.find((one) => one[member] === kind)?.params
  const schema = schemaFor(formOf(document, thing.path).schema, member, params)
  const request = { ...(kind === '' ? {} : { [member]: kind }), ...(givenOf(value) as object) }
  const fillIn = () => {
    const example = exampleIn(document, thing.path)
    const named = (example as Readonly<Record<string, Given>> | undefined)?.[member]
    if (kind !== '' && typeof named === 'string') setKind(named)
    setValue(example)
    setTurn(turn + 1)
  }
  return (
    <>
      <form
        class="card pad narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          ask(makeAct(thing, request, kind))
        }}
      >
        {kinds.length > 0 && (
          <label class="field">
            {w.choose}
            <select
              value={kind}
              onChange={(event) => {
                setKind(event.currentTarget.value)
                setValue(undefined)
              }}
            >
              {kinds.map((one) => (
                <option key={String(one[member])} value={String(one[member])}>
                  {String(one[member]).replaceAll('_', ' ')}
                </option>
              ))}
            </select>
            <small>{String(kinds.find((one) => one[member] === kind)?.['summary'] ?? '')}</small>
          </label>
        )}
        <SchemaForm
          key={`${kind} ${turn}`}
          {...{ document, schema, value, onChange: setValue, id: 'request' }}
        />
        <div class="actions end">
          <button type="button" onClick={fillIn}>
            {toolWords.fillIn}
          </button>
          <button class="primary" type="submit">
            {w.review}
          </button>
        </div>
      </form>
      {dialog}
    </>
  )
}

/** The schema without the kind, which is chosen above; `params` is the schema of the kind. */
const schemaFor = (whole: Schema, member: string, params: Schema | undefined): Schema => {
  if (params === undefined) return whole
  const { [member]: _, ...properties } = whole.properties ?? {}
  return { ...whole, properties: { ...properties, params } }
}

const makeAct = (thing: Thing, request: object, kind: string): Act => {
  const texts = Object.entries(request).filter(([, value]) => typeof value === 'string')
  return {
    title: thing.title,
    consequence: fill(thing.consequence, {
      ...Object.fromEntries(texts),
      kind: kind.replaceAll('_', ' '),
    }),
    beside: <Code label={w.request}>{JSON.stringify(request, null, 2)}</Code>,
    run: sending(
      'POST',
      thing.path,
      () => request,
      (answer: Parameters<Thing['to']>[0]) => <Link to={thing.to(answer)}>{w.made}</Link>,
    ),
  }
}

/** Registers a contract that is on a chain already. */
export const registerAct = (networks: readonly string[]): Act => ({
  title: w.registration,
  consequence: w.registrationConsequence,
  fields: [
    { name: 'address', label: railWords.address, more: { spellcheck: false } },
    { name: 'network', label: railWords.network, choices: asTheyAre(networks) },
    { name: 'label', label: railWords.label, isFree: true, more: { maxLength: 100 } },
    { name: 'abi', label: w.abi, isLong: true, more: { rows: 8, spellcheck: false } },
  ],
  run: sending('POST', '/v1/contracts', (form) => ({
    ...textsIn(form, 'address', 'network'),
    ...givenIn(form, 'label'),
    abi: JSON.parse(textIn(form, 'abi')),
  })),
})
