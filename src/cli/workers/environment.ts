import {
  type Environment,
  type PlatformSettings,
  type ProcessRole,
  processRoles,
} from '#src/platform/config/index.ts'
import { UsageError } from '../command.ts'
import { workerVariable } from './messages.ts'

/** The stages of instant payments, with their names in SPI_ROLES. */
const stageNames = { pull: 'INBOUND_PULL', worker: 'WORKER', send: 'OUTBOUND_SEND' } as const
type Stage = keyof typeof stageNames
const stages: readonly string[] = Object.keys(stageNames)

/**
 * The worker that does a role alone: the first one reads, because the message interface counts streams, and serves
 * gRPC; the last one sends, because a sender keeps to its pace by itself.
 */
const workerOf = (role: string, count: number): number | undefined => {
  if (role === 'pull' || role === 'grpc') return 1
  return role === 'send' ? count : undefined
}

export type Ports = {
  readonly http: number
  readonly cards: number
  readonly admin: number | undefined
  readonly pix: number | undefined
}

/**
 * The environment of a worker: its ports, and its part of the roles.
 *
 * @throws UsageError when there are more workers than the roles can use
 */
export const environmentOf = (
  env: Environment,
  {
    httpAddr,
    adminAddr,
    pixAddr,
    roles,
  }: Pick<PlatformSettings, 'httpAddr' | 'adminAddr' | 'pixAddr' | 'roles'>,
  {
    number,
    count,
    ports,
  }: { readonly number: number; readonly count: number; readonly ports: Ports },
): Record<string, string> => {
  const isMine = (role: string): boolean => (workerOf(role, count) ?? number) === number
  const named = env['SPI_ROLES'] || undefined
  const stagesNamed = named?.split(',').map((one) => one.trim())
  // If SPI_ROLES names stages, TRILHO_ROLES names none; if neither is set, no stage runs.
  const general = (roles ?? processRoles).filter(
    (role) =>
      isMine(role) && !(stages.includes(role) && (roles === undefined || named !== undefined)),
  )
  const own = stagesNamed?.filter((name) => {
    const stage = (Object.keys(stageNames) as Stage[]).find((one) => stageNames[one] === name)
    return stage === undefined || isMine(stage)
  })
  if (general.length === 0 && (own ?? []).length === 0) {
    throw new UsageError(`--workers ${count}: worker ${number} would have nothing to do`)
  }
  const { SPI_ROLES: _spi, TRILHO_ROLES: _roles, ...rest } = env as Record<string, string>
  return {
    ...rest,
    HTTP_ADDR: `${hostOf(httpAddr.host)}:${ports.http}`,
    CARDGW_PORT: String(ports.cards),
    ...(ports.admin === undefined
      ? {}
      : { TRILHO_ADMIN_ADDR: `${hostOf(adminAddr?.host)}:${ports.admin}` }),
    ...(ports.pix === undefined ? {} : { PIX_API_ADDR: `${hostOf(pixAddr?.host)}:${ports.pix}` }),
    ...(general.length === 0 ? { TRILHO_ROLES: leastRole } : { TRILHO_ROLES: general.join(',') }),
    ...(own === undefined || own.length === 0 ? {} : { SPI_ROLES: own.join(',') }),
    [workerVariable]: String(number),
  }
}

/**
 * The role of a worker that runs only the stages of SPI_ROLES: a process without any role would take them all. It names
 * no stages beside SPI_ROLES.
 */
const leastRole: ProcessRole = 'worker'

const hostOf = (host: string | undefined): string => {
  if (host === undefined) return ''
  return host.includes(':') ? `[${host}]` : host
}
