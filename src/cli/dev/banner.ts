import type { Demo } from '#src/platform/lifecycle/index.ts'
import type { DevState } from './state.ts'

/** The user's view once everything runs. */
export const banner = (ready: {
  readonly version: string
  readonly httpUrl: string
  readonly cardsUrl: string
  readonly adminUrl: string | undefined
  /** Undefined without a listener of its own. */
  readonly pixUrl?: string | undefined
  /** Undefined: there is none. */
  readonly consoleUrl: string | undefined
  /** The address that steers the simulated central bank; undefined if the settings name another one. */
  readonly centralBankUrl: string | undefined
  readonly featureUrls: Readonly<Record<string, string>>
  /** The address of the database that `dev` started itself. */
  readonly databaseUrl: string | undefined
  readonly state: DevState
  readonly notes: readonly string[]
  readonly demos: readonly Demo[]
}): string => {
  const { httpUrl, cardsUrl, adminUrl, state } = ready
  const cards = cardsUrl === httpUrl ? [] : [`  Cards    ${cardsUrl}`]
  const pix = ready.pixUrl === undefined ? [] : [`  API Pix  ${ready.pixUrl}`]
  const grpc = ready.featureUrls['grpc']
  return [
    '',
    `Trilho ${ready.version} is running.`,
    ...ready.notes.map((note) => `  (${note})`),
    '',
    `  URL      ${httpUrl}`,
    ...cards,
    ...pix,
    ...(grpc === undefined ? [] : [`  gRPC     ${grpc}`]),
    `  API key  ${state.apiKey}`,
    `  Docs     ${adminUrl ?? httpUrl}/docs`,
    ...(ready.consoleUrl === undefined ? [] : [`  Console  ${ready.consoleUrl}`]),
    ...(ready.databaseUrl === undefined ? [] : [`  Database ${ready.databaseUrl}`]),
    ...(ready.centralBankUrl === undefined
      ? []
      : [`  SPI      ${ready.centralBankUrl} (simulated: payers are at /simulator/pay-in)`]),
    `  State    ${state.directory}`,
    '',
    ...ready.demos.flatMap(demoLines),
    'Ctrl-C ends it.',
    '',
  ].join('\n')
}

const demoLines = ({ title, command, output }: Demo): string[] => [
  `${title}:`,
  `  $ ${command}`,
  ...output
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`),
  '',
]
