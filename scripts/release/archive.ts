import { basename, dirname } from 'node:path'
import { run } from './run.ts'

/** Higher levels take four times as long for one percent. */
const compressionLevel = 6

/** A `.tar.gz` of a directory whose bytes depend on names, modes and content alone. Needs GNU tar. */
export const archive = async (directory: string, outfile: string, at: Date): Promise<void> => {
  const tar = await run(
    [
      'tar',
      ...['--format=ustar', '--sort=name', '--owner=0', '--group=0', '--numeric-owner'],
      ...[`--mtime=@${Math.floor(at.getTime() / 1000)}`, '--mode=u+rwX,go+rX,go-w'],
      '-C',
      dirname(directory),
      '-cf',
      '-',
      basename(directory),
    ],
    dirname(directory),
  )
  await Bun.write(
    outfile,
    Bun.gzipSync(new Uint8Array(tar), { level: compressionLevel, library: 'libdeflate' }),
  )
}
