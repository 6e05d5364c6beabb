import { expect, test } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import { spiProblems, spiSettings } from '#src/spi/index.ts'

const problemsOf = (env: Readonly<Record<string, string>>, dsn?: string): readonly string[] =>
  spiProblems(loadSettings({ spi: spiSettings }, env).values.spi, dsn).map(
    ({ name, problem }) => `${name} ${problem}`,
  )

test('a stage, and the fast path, name each setting they lack', () => {
  expect(problemsOf({ SPI_ROLES: 'WORKER' })).toEqual([
    'SPI_ROLES needs DATABASE_DSN, which is not set',
  ])
  expect(problemsOf({ SPI_SYNC_ENABLED: 'true', ISPB: '12345678' })).toEqual([
    'SPI_SYNC_ENABLED needs SPI_PRIMARY_URL, which is not set',
    'SPI_SYNC_ENABLED needs DATABASE_DSN, which is not set',
  ])
  const whole = { SPI_SYNC_ENABLED: 'true', ISPB: '12345678', SPI_SECONDARY_URL: 'http://a' }
  expect(problemsOf(whole, 'postgres://a/b')).toEqual([])
})
