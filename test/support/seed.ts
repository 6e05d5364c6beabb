/** What a commit draws by chance: a second run finds again what the first found, and the next commit looks elsewhere. */
const seedOfCommit = (): number => {
  const head = Bun.spawnSync(['git', 'rev-parse', 'HEAD'], { cwd: import.meta.dir })
  // A tree that is no checkout has one seed.
  return Number.parseInt(head.stdout.toString().slice(0, 7), 16) || 1
}

/** In the name of a test that draws by chance; TRILHO_SEED repeats it, and the long lanes draw anew each time. */
export const seed = Number(
  process.env['TRILHO_SEED'] ??
    (process.env['TRILHO_LONG'] === '1' ? Date.now() % 2 ** 31 : seedOfCommit()),
)
