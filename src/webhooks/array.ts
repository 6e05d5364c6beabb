/**
 * An array as PostgreSQL writes it, for `${textArray(ids)}::text::text[]`. The driver's own arrays need
 * what it learns on its first connection, and are malformed in statements made before that.
 */
export const textArray = (values: readonly (string | number)[]): string =>
  `{${values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
