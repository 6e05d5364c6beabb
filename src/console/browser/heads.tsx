import type { ComponentChildren } from 'preact'
import { Link } from './router.tsx'
import { Badge } from './state.tsx'
import { words } from './words.ts'

/** The way back to the list that a page belongs to. */
export const Back = ({ to, text }: { readonly to: string; readonly text: string }) => (
  <p class="back">
    <Link to={to}>← {text}</Link>
  </p>
)

/** The head of a screen, with its buttons. */
export const ScreenHead = (props: {
  readonly title: string
  readonly intro?: string
  readonly children?: ComponentChildren
}) => (
  <header class="head">
    <div>
      <h1>{props.title}</h1>
      {props.intro !== undefined && <p class="quiet">{props.intro}</p>}
    </div>
    {props.children}
  </header>
)

/** The head of a page about one thing, with its acts. */
export const ThingHead = (props: {
  readonly title: string
  readonly isAmount?: boolean
  readonly status: string | undefined
  readonly id: string
  readonly children: ComponentChildren
}) => (
  <header class="head">
    <div>
      <h1 class={props.isAmount === true ? 'amount' : undefined}>{props.title}</h1>{' '}
      {props.status !== undefined && <Badge status={props.status} />}
      <p class="mono quiet">{props.id}</p>
    </div>
    <div class="actions">{props.children}</div>
  </header>
)

export const NotFound = () => (
  <>
    <h1>{words.notFound}</h1>
    <Link to="/">{words.overview}</Link>
  </>
)

type TabsProps = {
  readonly label: string
  readonly tabs: readonly { readonly name: string; readonly label: string }[]
  readonly current: string | undefined
  /** The address of a tab without its name, which stands at the end. */
  readonly at: string
}

/** The lists of one screen as tabs. */
export const Tabs = ({ label: all, tabs, current, at }: TabsProps) => (
  <nav class="tabs" aria-label={all}>
    {tabs.map(({ name, label }) => (
      <Link key={name} to={at + name} current={name === current}>
        {label}
      </Link>
    ))}
  </nav>
)
