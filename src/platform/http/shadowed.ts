import type { Route } from './route.ts'

/**
 * A path written out, with the methods that only a path with parameters would take: GET of `/v1/transactions/authorize`
 * is no transaction named "authorize".
 */
export const shadowed = (routes: readonly Route[]) => {
  const isLiteral = ({ path }: Route): boolean => !path.includes('{')
  const taken = new Set(routes.map(({ method, path }) => `${method} ${path}`))
  const literal = new Set(routes.filter(isLiteral).map(({ path }) => path))
  const bySteps = Map.groupBy(literal, stepsOf)
  return routes.flatMap((route) => {
    if (isLiteral(route)) return []
    const { method, path } = route
    const form = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
    return (bySteps.get(stepsOf(path)) ?? [])
      .filter((other) => form.test(other) && !taken.has(`${method} ${other}`))
      .map((other) => ({ method, path: other }))
  })
}

const stepsOf = (path: string): number => path.split('/').length
