import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Loaded, Refusal } from './api.ts'
import { dayOf, secondOf } from './format.ts'
import { Badge } from './state.tsx'
import { fill, words } from './words.ts'

/** Shows the loaded value or the error; a value that could not be loaded again has its time. */
export const Shown = <T,>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<T>
  readonly children: (value: T) => ComponentChildren
}) => {
  const { value, atMs, error, again } = loaded
  if (value !== undefined) {
    const at = new Date(atMs).toISOString()
    const since = fill(words.stale, { time: `${dayOf(at)} ${secondOf(at)}` })
    return (
      <>
        {error !== undefined && (
          <p class="quiet" role="status">
            {since} {error.message}{' '}
            <button type="button" onClick={again}>
              {words.again}
            </button>
          </p>
        )}
        {children(value)}
      </>
    )
  }
  if (error === undefined) return <p class="quiet waiting">{words.loading}…</p>
  return <Unanswered refusal={error} again={again} />
}

/** Stands in place of a value that could not be loaded. */
export const Unanswered = ({
  refusal: { status, message, requestId },
  again,
}: {
  readonly refusal: Refusal
  readonly again: () => void
}) => (
  <div class="problem" role="alert">
    <strong>{status === 403 ? words.lacking : words.failed}</strong>
    <p>{message}</p>
    {requestId !== '' && (
      <p class="quiet">
        {words.request} <code>{requestId}</code>
      </p>
    )}
    <button type="button" onClick={again}>
      {words.again}
    </button>
  </div>
)

/** The reason of a refusal, with the id that finds its request in the log. */
export const Refused = ({
  refusal: { message, requestId },
  isBox = false,
  children,
}: {
  readonly refusal: Refusal
  readonly isBox?: boolean
  readonly children?: ComponentChildren
}) => (
  <p role="alert" class={isBox ? 'problem' : ''}>
    {message}
    {requestId !== '' && (
      <span>
        {' '}
        {words.request} <code>{requestId}</code>
      </span>
    )}
    {children}
  </p>
)

export const Copy = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const [said, setSaid] = useState<string>()
  const copy = async () => {
    // A browser may refuse it.
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setSaid(isDone ? words.copied : words.notCopied)
    setTimeout(() => setSaid(undefined), 1500)
  }
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}

/** Returns `shown`, or the text `none` for an empty list. */
export const orNone = (
  { length }: readonly unknown[],
  none: string,
  shown: ComponentChildren,
): ComponentChildren => (length === 0 ? <p class="empty">{none}</p> : shown)

/** @param isQuiet true: nothing in it needs a person, so it is one line below the others */
export const Card = ({
  title,
  aside,
  isQuiet = false,
  children,
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly isQuiet?: boolean
  readonly children: ComponentChildren
}) => (
  <section class={isQuiet ? 'card none' : 'card'}>
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
)

/** Text for machines, in a frame that scrolls. */
export const Code = ({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
  <section class="code" aria-label={label} tabIndex={0}>
    {children}
  </section>
)

/** The same on a card of its own, with a button that copies it. */
export const CodeCard = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <Card title={title} aside={<Copy text={text} label={words.copy} />}>
    <Code label={title}>{text}</Code>
  </Card>
)

export type Fact = {
  readonly name: ComponentChildren
  /** Needed if the name is not a text. */
  readonly key?: string
  readonly value: ComponentChildren
  /** Shows the value as a badge. */
  readonly status?: string
}

/** The facts whose values are known. */
export const knownFacts = (
  facts: readonly (readonly [name: string, value: Fact['value']])[],
): readonly Fact[] =>
  facts.flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [{ name, value }],
  )

/** @param isWide true: side by side, each value under its name */
export const Facts = ({
  facts,
  isWide = false,
}: {
  readonly facts: readonly Fact[]
  readonly isWide?: boolean
}) => (
  <dl class={isWide ? 'facts tiles' : 'facts'}>
    {facts.map(({ name, key, value, status }) => (
      <div key={key ?? String(name)}>
        <dt>{name}</dt>
        <dd>{status === undefined ? value : <Badge status={status} label={value} />}</dd>
      </div>
    ))}
  </dl>
)
