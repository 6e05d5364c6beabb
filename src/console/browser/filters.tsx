import type { ComponentChildren, JSX } from 'preact'
import { go } from './router.tsx'
import { statusText } from './state.tsx'
import { words } from './words.ts'

/** The value of that name, in an address or a form. */
export type Given = (name: string) => string | null

/**
 * The filter of a list. The address holds its values.
 *
 * @param addressOf makes the address from the form's values
 * @param after stands behind the button
 */
export const Filters = ({
  addressOf,
  isMany = false,
  after,
  children,
}: {
  readonly addressOf: (given: Given) => string
  readonly isMany?: boolean
  readonly after?: ComponentChildren
  readonly children: ComponentChildren
}) => (
  <search>
    <form
      class={isMany ? 'filters many' : 'filters'}
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        go(addressOf((name) => given.get(name)?.toString() ?? null))
      }}
    >
      {children}
      <button type="submit">{words.search}</button>
      {after}
    </form>
  </search>
)

/** An input for a search text. */
export const Sought = ({
  label,
  value = '',
  ...more
}: JSX.InputHTMLAttributes<HTMLInputElement> & {
  readonly label: string
  readonly value?: string
}) => (
  <input
    aria-label={label}
    placeholder={label}
    defaultValue={value}
    autocomplete="off"
    spellcheck={false}
    {...more}
  />
)

/** A choice of one value or any; it takes effect at once. */
export const Choice = ({
  name,
  label,
  any,
  values,
  chosen,
  textOf = statusText,
}: {
  readonly name: string
  readonly label: string
  readonly any: string
  readonly values: readonly string[]
  readonly chosen: string
  readonly textOf?: (value: string) => string
}) => (
  <select
    name={name}
    aria-label={label}
    onChange={(event) => event.currentTarget.form?.requestSubmit()}
  >
    <option value="">{any}</option>
    {values.map((value) => (
      <option key={value} value={value} selected={value === chosen}>
        {textOf(value)}
      </option>
    ))}
  </select>
)

export const StatusChoice = ({
  statuses,
  chosen,
}: {
  readonly statuses: readonly string[]
  readonly chosen: string
}) => (
  <Choice {...{ name: 'status', label: words.status, any: words.any, values: statuses, chosen }} />
)

type DaysProps = { readonly from?: string | undefined; readonly to?: string | undefined }

/** The first and the last day. */
export const Days = ({ from, to }: DaysProps) => (
  <>
    <Day name="from" label={words.fromDay} value={from} />
    <Day name="to" label={words.toDay} value={to} />
  </>
)

type DayProps = {
  readonly name: string
  readonly label: string
  readonly value?: string | undefined
}

const Day = ({ name, label, value = '' }: DayProps) => (
  <input class="day" type="date" name={name} aria-label={label} defaultValue={value} />
)
