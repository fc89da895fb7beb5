/*
 * valid SCHEMA.json FILE.json: is the file what the schema says? Of JSON Schema it knows what our schemas use:
 * type, const, enum, required, properties, additionalProperties, items, minimum, minLength and pattern (of
 * POSIX). Whatever else a schema holds is refused, so that nothing in it is thought to be checked and is not.
 * Exit status: 0 it is; 1 it is not, with a line that says where; 2 one of them cannot be read.
 */
#define _XOPEN_SOURCE 700  // regcomp
#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE, NOTHING };

struct value {
    enum type type;
    char *text;  // of a STRING
    double number;
    char **names;  // of an OBJECT's members
    struct value *parts;
    size_t count;
};

static const char *path, *at;

_Noreturn static void bad(const char *expected)
{
    fprintf(stderr, "valid: %s: expected %s at \"%.30s\"\n", path, expected, at);
    exit(2);
}

static void *room(void *old, size_t count, size_t size)
{
    void *new = realloc(old, count * size);
    if (!new)
        bad("memory");
    return new;
}

static void blanks(void)
{
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
        at++;
}

static bool take(char c)
{
    blanks();
    if (*at != c)
        return false;
    at++;
    return true;
}

/* Escapes stay as they are: what is compared here has none, but for a backslash before a sign. */
static char *string(void)
{
    if (!take('"'))
        bad("a string");
    char *text = room(NULL, strlen(at) + 1, 1), *to = text;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < ' ')
            bad("the end of a string");
        if (*at == '\\' && strchr("\"\\/bfnrtu", at[1]) == NULL)
            bad("an escape that JSON has");
        if (*at == '\\' && (at[1] == '\\' || at[1] == '"'))
            at++;
        *to++ = *at;
    }
    at++;
    *to = '\0';
    return text;
}

static struct value value(void);

static struct value compound(bool object, char end)
{
    struct value v = { .type = object ? OBJECT : ARRAY };
    if (take(end))
        return v;
    do {
        v.names = object ? room(v.names, v.count + 1, sizeof *v.names) : NULL;
        if (object)
            v.names[v.count] = string();
        if (object && !take(':'))
            bad("a colon");
        v.parts = room(v.parts, v.count + 1, sizeof *v.parts);
        v.parts[v.count] = value();
        v.count++;
    } while (take(','));
    if (!take(end))
        bad("a comma or the end");
    return v;
}

static struct value value(void)
{
    static const char *const words[] = { [TRUE] = "true", [FALSE] = "false", [NOTHING] = "null" };
    blanks();
    if (take('{'))
        return compound(true, '}');
    if (take('['))
        return compound(false, ']');
    if (*at == '"') {
        struct value v = { .type = STRING };
        v.text = string();
        return v;
    }
    for (enum type t = TRUE; t <= NOTHING; t++)
        if (strncmp(at, words[t], strlen(words[t])) == 0) {
            at += strlen(words[t]);
            return (struct value){ .type = t };
        }
    char *end;
    struct value v = { .type = NUMBER, .number = strtod(at, &end) };
    // strtod reads more than JSON has
    if (end == at || (*at != '-' && !isdigit((unsigned char)*at)) || !isfinite(v.number))
        bad("a value");
    at = end;
    return v;
}

static struct value load(const char *file)
{
    static char text[1 << 20];
    path = at = file;
    FILE *stream = fopen(file, "r");
    if (!stream)
        bad("a file that can be read");
    text[fread(text, 1, sizeof text - 1, stream)] = '\0';
    fclose(stream);
    char *copy = room(NULL, strlen(text) + 1, 1);
    memcpy(copy, text, strlen(text) + 1);
    at = copy;
    const struct value v = value();
    blanks();
    if (*at)
        bad("the end");
    return v;
}

static const struct value *find(const struct value *object, const char *name)
{
    for (size_t k = 0; object && k < object->count; k++)
        if (object->names && strcmp(object->names[k], name) == 0)
            return &object->parts[k];
    return NULL;
}

static bool same(const struct value *a, const struct value *b)
{
    return a->type == b->type && (a->type != STRING || strcmp(a->text, b->text) == 0) &&
           (a->type != NUMBER || a->number == b->number);
}

static bool has_type(const struct value *v, const char *type)
{
    return (strcmp(type, "object") == 0 && v->type == OBJECT) ||
           (strcmp(type, "array") == 0 && v->type == ARRAY) ||
           (strcmp(type, "string") == 0 && v->type == STRING) ||
           (strcmp(type, "number") == 0 && v->type == NUMBER) ||
           (strcmp(type, "integer") == 0 && v->type == NUMBER && v->number == floor(v->number)) ||
           (strcmp(type, "boolean") == 0 && (v->type == TRUE || v->type == FALSE));
}

static bool matches(const char *pattern, const char *text)
{
    regex_t compiled;
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        bad("a pattern of POSIX");
    const bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

static int faults;
static void fault(const char *where, const char *what, const char *name)
{
    printf("%s: %s%s\n", where, what, name);
    faults++;
}

static void check(const struct value *schema, const struct value *v, const char *where)
{
    static const char *const known[] = { "type",
                                         "const",
                                         "enum",
                                         "required",
                                         "properties",
                                         "items",
                                         "minimum",
                                         "pattern",
                                         "description",
                                         "title",
                                         "$schema",
                                         "minLength",
                                         "additionalProperties" };
    for (size_t k = 0; k < schema->count; k++) {
        size_t n = 0;
        while (n < sizeof known / sizeof known[0] && strcmp(known[n], schema->names[k]) != 0)
            n++;
        if (n == sizeof known / sizeof known[0])
            fault(where, "the schema has what is not known here: ", schema->names[k]);
    }
    const struct value *types = find(schema, "type"), *choices = find(schema, "enum");
    bool fits = !types || (types->type == STRING && has_type(v, types->text));
    for (size_t k = 0; types && k < types->count; k++)
        fits = fits || has_type(v, types->parts[k].text);
    if (!fits) {
        fault(where, "another type than ", types->type == STRING ? types->text : "those listed");
        return;
    }
    if (find(schema, "const") && !same(find(schema, "const"), v))
        fault(where, "not the constant", "");
    bool chosen = !choices;
    for (size_t k = 0; choices && k < choices->count; k++)
        chosen = chosen || same(&choices->parts[k], v);
    if (!chosen)
        fault(where, "none of the choices", "");
    if (find(schema, "minimum") && v->type == NUMBER && v->number < find(schema, "minimum")->number)
        fault(where, "below the minimum", "");
    if (find(schema, "minLength") && v->type == STRING &&
        strlen(v->text) < (size_t)find(schema, "minLength")->number)
        fault(where, "too short", "");
    if (find(schema, "pattern") && v->type == STRING &&
        !matches(find(schema, "pattern")->text, v->text))
        fault(where, "not of the pattern ", find(schema, "pattern")->text);

    const struct value *required = find(schema, "required"),
                       *properties = find(schema, "properties");
    const struct value *others = find(schema, "additionalProperties"),
                       *items = find(schema, "items");
    char below[400];
    for (size_t k = 0; required && v->type == OBJECT && k < required->count; k++)
        if (!find(v, required->parts[k].text))
            fault(where, "there is no ", required->parts[k].text);
    for (size_t k = 0; v->type == OBJECT && k < v->count; k++) {
        const struct value *its = find(properties, v->names[k]);
        snprintf(below, sizeof below, "%.300s.%.80s", where, v->names[k]);
        if (its)
            check(its, &v->parts[k], below);
        else if (others && others->type == FALSE)
            fault(below, "a member that is not in the schema", "");
    }
    for (size_t k = 0; items && v->type == ARRAY && k < v->count; k++) {
        snprintf(below, sizeof below, "%.300s[%zu]", where, k);
        check(items, &v->parts[k], below);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "valid: usage: valid SCHEMA.json FILE.json\n");
        return 2;
    }
    static struct value schema, file;
    schema = load(argv[1]);
    file = load(argv[2]);
    check(&schema, &file, "$");
    return faults > 0;
}
