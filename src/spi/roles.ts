import type { SettingProblem } from '#src/platform/config/index.ts'
import { keyFileProblems } from '#src/platform/security/index.ts'
import { dayPartitionsMax, type SpiRole, type SpiSettings, spiRoles } from './config.ts'
import { rsfnProblems } from './link/rsfn/index.ts'

type Need = 'ISPB' | 'SPI_PRIMARY_URL' | 'DATABASE_DSN' | 'BROKER_ADDRESSES or DATABASE_DSN'

/** What each stage needs to run. Pulling stores nothing itself: any broker will do. */
const needs: Readonly<Record<SpiRole, readonly Need[]>> = {
  INBOUND_PULL: ['ISPB', 'SPI_PRIMARY_URL', 'BROKER_ADDRESSES or DATABASE_DSN'],
  WORKER: ['ISPB', 'DATABASE_DSN'],
  OUTBOUND_SEND: ['ISPB', 'SPI_PRIMARY_URL', 'DATABASE_DSN'],
}

/** Their names in TRILHO_ROLES. */
const processRoleOf = { INBOUND_PULL: 'pull', WORKER: 'worker', OUTBOUND_SEND: 'send' } as const

/** The stages that a process runs: those of SPI_ROLES, or else of TRILHO_ROLES, or else none. */
export const spiStages = (
  named: readonly SpiRole[] | undefined,
  roles: readonly string[] | undefined,
): readonly SpiRole[] =>
  named ?? spiRoles.filter((role) => roles?.includes(processRoleOf[role]) === true)

/** The settings of other features that the stages depend on. */
export type SpiSurroundings = {
  /** TRILHO_ROLES. */
  readonly roles?: readonly string[] | undefined
  readonly dsn: string | undefined
  readonly brokerAddresses: readonly string[] | undefined
}

/** Problems that involve several settings: a stage that lacks something, keys that do not fit. */
export const spiProblems = (
  settings: SpiSettings,
  { roles, dsn, brokerAddresses }: SpiSurroundings,
): readonly SettingProblem[] => {
  const isSet = {
    ISPB: settings.ispb !== undefined,
    SPI_PRIMARY_URL: settings.primaryUrl !== undefined || settings.secondaryUrl !== undefined,
    DATABASE_DSN: dsn !== undefined,
    'BROKER_ADDRESSES or DATABASE_DSN': dsn !== undefined || brokerAddresses !== undefined,
  }
  const setting = settings.roles === undefined ? 'TRILHO_ROLES' : 'SPI_ROLES'
  const problems = spiStages(settings.roles, roles).flatMap((role) => {
    const value = settings.roles === undefined ? processRoleOf[role] : role
    return needs[role]
      .filter((name) => !isSet[name])
      .map((name) => ({
        name: setting,
        value,
        problem: `needs ${name}, which is not set`,
        expected: `${value} together with ${name}`,
        fix: `set ${name}, or take ${value} out of ${setting}`,
      }))
  })
  return [
    ...problems,
    ...partitionProblems(settings),
    ...fastPathProblems(settings, isSet),
    ...keyFileProblems(
      settings,
      { name: 'CERT_PATH', value: '***' },
      'set CERT_PATH and KEY_PATH to a certificate and its key, or neither',
    ),
    ...rsfnProblems(settings),
  ]
}

const partitionProblems = ({
  partitionUnit,
  retentionDays,
}: SpiSettings): readonly SettingProblem[] =>
  partitionUnit === 'day' && retentionDays > dayPartitionsMax
    ? [
        {
          name: 'SPI_PARTITION_UNIT',
          value: 'day',
          problem: 'would be too many partitions',
          expected: `\`day\` together with at most ${dayPartitionsMax} for SPI_RETENTION_DAYS`,
          fix: 'set SPI_RETENTION_DAYS, and TRILHO_ARCHIVE_DIR to keep what goes, or SPI_PARTITION_UNIT=month',
        },
      ]
    : []

const fastPathProblems = (
  { syncEnabled }: SpiSettings,
  isSet: Readonly<Record<Need, boolean>>,
): readonly SettingProblem[] =>
  needs.OUTBOUND_SEND.filter((name) => syncEnabled && !isSet[name]).map((name) => ({
    name: 'SPI_SYNC_ENABLED',
    value: 'true',
    problem: `needs ${name}, which is not set`,
    expected: `SPI_SYNC_ENABLED together with ${name}`,
    fix: `set ${name}, or leave SPI_SYNC_ENABLED out`,
  }))
