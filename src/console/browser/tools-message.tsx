import { useState } from 'preact/hooks'
import { type Act, may, sending, useActs } from './act.tsx'
import { Refusal, type Session, send, useLoaded } from './api.ts'
import { useLast } from './last.ts'
import { Card, Copy, Refused, Shown } from './parts.tsx'
import { Link } from './router.tsx'
import { type ApiDocument, formOf, loadDocument, resolved, type Schema } from './samples.ts'
import { type Given, givenOf, SchemaForm } from './schema-form.tsx'
import { Written } from './tools-samples.tsx'
import { toolWords as w } from './tools-words.ts'
import { fill, words } from './words.ts'
import { Xml } from './xml.tsx'

const sendPath = '/v1/spi/send'

type Request = { readonly message_type: string; readonly params: Given }

type Built = {
  readonly definition: string
  readonly channel: string
  readonly biz_msg_idr: string
  readonly xml: string
}

/** Makes a message of the SPI from a form of its parameters, to see it, copy its request or send it. */
export const MakeMessage = ({ session }: { readonly session: Session }) => {
  const loaded = useLoaded('openapi', loadDocument)
  return (
    <Shown loaded={loaded}>{(document) => <Choose document={document} session={session} />}</Shown>
  )
}

type Variant = { readonly type: string; readonly params: Schema }

/** One variant for each type of message. */
const variantsOf = (document: ApiDocument): readonly Variant[] =>
  (formOf(document, sendPath).schema.anyOf ?? []).flatMap((one) => {
    const { message_type: type, params } = resolved(document, one).properties ?? {}
    const name = type?.const ?? type?.enum?.[0]
    return typeof name === 'string' && params !== undefined ? [{ type: name, params }] : []
  })

const Choose = ({
  document,
  session,
}: {
  readonly document: ApiDocument
  readonly session: Session
}) => {
  const variants = variantsOf(document)
  const [type, setType] = useState(variants[0]?.type ?? '')
  const variant = variants.find((one) => one.type === type)
  return (
    <>
      <div class="filters">
        <select
          aria-label={w.messageType}
          value={type}
          onChange={(event) => setType(event.currentTarget.value)}
        >
          {variants.map((one) => (
            <option key={one.type} value={one.type}>
              {one.type}
            </option>
          ))}
        </select>
      </div>
      {variant !== undefined && (
        <MessageForm key={type} {...{ document, session }} variant={variant} />
      )}
    </>
  )
}

const exampleOf = (document: ApiDocument, type: string): Given => {
  const example = formOf(document, sendPath).examples[type] as Request | undefined
  return example?.params
}

const MessageForm = ({
  document,
  session,
  variant: { type, params },
}: {
  readonly document: ApiDocument
  readonly session: Session
  readonly variant: Variant
}) => {
  const [value, setValue] = useState<Given>()
  // The example needs a new form, because its parts choose by their first value.
  const [turn, setTurn] = useState(0)
  const [shown, askLast] = useLast<Made>()
  const { ask, dialog } = useActs(() => {})
  const request: Request = { message_type: type, params: givenOf(value) ?? {} }
  const build = async (): Promise<Made> => ({
    built: await send<Built>('POST', '/v1/spi/build', request),
    request,
  })
  return (
    <div class="columns">
      <form
        class="card pad"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void askLast(build())
        }}
      >
        <SchemaForm
          key={String(turn)}
          {...{ document, schema: params, value, onChange: setValue, id: 'params' }}
        />
        <div class="actions end">
          <button
            type="button"
            onClick={() => {
              setValue(exampleOf(document, type))
              setTurn(turn + 1)
            }}
          >
            {w.fillIn}
          </button>
          <button class={may(session, 'spi:send') ? '' : 'primary'} type="submit">
            {w.build}
          </button>
          {may(session, 'spi:send') && (
            <button class="primary" type="button" onClick={() => ask(sendAct(request))}>
              {w.send}
            </button>
          )}
        </div>
      </form>
      <div aria-live="polite" class="stack">
        {shown !== undefined && <Result shown={shown} />}
      </div>
      {dialog}
    </div>
  )
}

const sendAct = (request: Request): Act => ({
  title: w.send,
  consequence: fill(w.sendConsequence, { type: request.message_type }),
  run: sending(
    'POST',
    sendPath,
    () => request,
    (sent: { id: string; biz_msg_idr: string }) => (
      <Link to={`/payments/spi/${sent.id}`}>{sent.biz_msg_idr}</Link>
    ),
  ),
})

/** The built message and its request. */
type Made = { readonly built: Built; readonly request: Request }

const Result = ({ shown }: { readonly shown: Made | Refusal }) => {
  if (shown instanceof Refusal) {
    return <Refused refusal={shown} isBox />
  }
  const { built, request } = shown
  const body = { contentType: 'application/json', text: JSON.stringify(request, null, 2) }
  return (
    <>
      <Card
        title={built.definition}
        aside={
          <div class="actions">
            <span class="quiet mono">{built.biz_msg_idr}</span>
            <Copy text={built.xml} label={words.copy} />
          </div>
        }
      >
        <Xml text={built.xml} />
      </Card>
      <Written
        request={{
          name: `POST ${sendPath}`,
          summary: '',
          method: 'POST',
          path: sendPath,
          isIdempotent: true,
          body,
        }}
      />
    </>
  )
}
