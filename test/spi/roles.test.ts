import { expect, test } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import { spiProblems, spiSettings } from '#src/spi/index.ts'

const problemsOf = (
  env: Readonly<Record<string, string>>,
  { dsn, brokerAddresses }: { dsn?: string; brokerAddresses?: readonly string[] } = {},
): readonly string[] =>
  spiProblems(loadSettings({ spi: spiSettings }, env).values.spi, { dsn, brokerAddresses }).map(
    ({ name, problem }) => `${name} ${problem}`,
  )

test('a stage, and the fast path, name each setting they lack', () => {
  expect(problemsOf({ SPI_ROLES: 'WORKER' })).toEqual([
    'SPI_ROLES needs ISPB, which is not set',
    'SPI_ROLES needs DATABASE_DSN, which is not set',
  ])
  expect(problemsOf({ SPI_SYNC_ENABLED: 'true', ISPB: '12345678' })).toEqual([
    'SPI_SYNC_ENABLED needs SPI_PRIMARY_URL, which is not set',
    'SPI_SYNC_ENABLED needs DATABASE_DSN, which is not set',
  ])
  const whole = { SPI_SYNC_ENABLED: 'true', ISPB: '12345678', SPI_SECONDARY_URL: 'http://a' }
  expect(problemsOf(whole, { dsn: 'postgres://a/b' })).toEqual([])
})

test('pulling needs a broker that keeps messages, and no database where Kafka is one', () => {
  const puller = { SPI_ROLES: 'INBOUND_PULL', ISPB: '12345678', SPI_PRIMARY_URL: 'http://a' }
  expect(problemsOf(puller)).toEqual([
    'SPI_ROLES needs BROKER_ADDRESSES or DATABASE_DSN, which is not set',
  ])
  expect(problemsOf(puller, { dsn: 'postgres://a/b' })).toEqual([])
  const kafka = { brokerAddresses: ['a:9092'] }
  expect(problemsOf(puller, kafka)).toEqual([])
  for (const role of ['WORKER', 'OUTBOUND_SEND']) {
    expect(problemsOf({ ...puller, SPI_ROLES: role }, kafka)).toEqual([
      'SPI_ROLES needs DATABASE_DSN, which is not set',
    ])
  }
})

test('partitions of a day are as many as the days that messages are kept, and those are bounded', () => {
  const days = { SPI_PARTITION_UNIT: 'day', SPI_RETENTION_DAYS: '400' }
  expect(problemsOf(days)).toEqual([])
  expect(problemsOf({ ...days, SPI_RETENTION_DAYS: '401' })).toEqual([
    'SPI_PARTITION_UNIT would be too many partitions',
  ])
})
