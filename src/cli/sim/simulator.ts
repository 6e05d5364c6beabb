import type { CommandArguments, CommandOption } from '../command.ts'

/** A simulator that runs. */
type RunningSimulator = {
  /** Its addresses, and all that a gateway needs to find it; shown once, as JSON. */
  readonly place: Readonly<Record<string, unknown>>
  /** The same for people, a line each. */
  readonly lines: readonly string[]
  /** The counts so far; shown at the end. */
  readonly statistics: () => Readonly<Record<string, unknown>>
  readonly stop: () => void | Promise<void>
}

/** One counterparty that `trilho sim` can play. */
export type Simulator = {
  readonly name: string
  readonly summary: string
  readonly options: Readonly<Record<string, CommandOption>>
  readonly example: string
  /** @throws UsageError for options that have another form */
  readonly start: (args: CommandArguments) => Promise<RunningSimulator>
}
